// The first page: the picture that moves, and the two questions. Without a script both show an example.

import {startAsk} from "./ask.js";
import {startPicture} from "./picture.js";

for (const figure of document.querySelectorAll(".fb-living")) startPicture(figure);
for (const form of document.querySelectorAll("form.fb-ask")) startAsk(form);

"""What several tests share: handmade fixtures, servers on loopback, a browser, random inputs."""

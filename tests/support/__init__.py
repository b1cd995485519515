"""What several tests share: fixtures made by hand, servers on loopback, a browser, random inputs."""

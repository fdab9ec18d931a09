"""The page of `gaitlab view`: server, scene, charts, corrections and their preview."""

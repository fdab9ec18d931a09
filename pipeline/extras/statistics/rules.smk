use rule study as repeatability with:
    input:
        study="derived/study.nc",
    output:
        repeatability="derived/repeatability.nc",
        table=["derived/repeatability.csv", "derived/repeatability.json"],
    log:
        "logs/repeatability.log",
    params:
        key=key("repeatability"),

use rule read as muscles with:
    input:
        cycles="derived/{session}/cycles.nc",
        kinematics="derived/{session}/kinematics.nc",
        contacts="derived/{session}/contacts.nc",
        calibrate="derived/{session}/calibrate.nc",
    output:
        muscles="derived/{session}/muscles.nc",
    log:
        "logs/{session}/muscles.log",
    resources:
        mem_mb=STUDY.memory_of("muscles"),
        runtime=STUDY.minutes_of("muscles"),
    params:
        key=key("muscles"),

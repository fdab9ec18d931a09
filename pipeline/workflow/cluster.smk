# What a run on a cluster needs: the only place that uses what Snakemake does not document. tests/workflow/test_cluster.py
# names each attribute and what fails without it.

from pipeline.step import every_step


localrules:
    all,
    page_files,  # two small files, which would wait for a place on the cluster


if not workflow.is_main_process:  # a job on the cluster runs its steps; Slurm's plugin would start Snakemake for each

    workflow.localrules(*every_step())

    def key(step):
        """Return the function that gives a job's key, which also changes settings.

        Neither options nor profiles reach the jobs of a cluster, and Snakemake reads these settings when it has
        planned. Without them a session that fails would end the others of its group, each step would start Snakemake
        once more, and Snakemake would look at waiting jobs every second.
        """
        of_wildcards = STUDY.key(step)

        def planned(wildcards):
            workflow.execution_settings.keep_going = True
            workflow.execution_settings.use_threads = True
            workflow.scheduling_settings.max_jobs_per_timespan = None
            return of_wildcards(wildcards)

        return planned


onstart:
    # When a group fails, Snakemake either removes the results of all its sessions, or (--keep-incomplete) records all of
    # them as up to date, even if the group never began. So with that option none may be left of an earlier run.
    if workflow.non_local_exec and workflow.execution_settings.keep_incomplete:
        for job in workflow.dag.needrun_jobs():
            for file in (*job.output, *job.log):
                Path(file).unlink(missing_ok=True)

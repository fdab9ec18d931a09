"""What uses Snakemake: settings, job keys, checksums, preparation, progress; jobs/ runs one job in a worker process."""

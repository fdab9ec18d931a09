"""Every output variable and metric: name, unit, dimensions, meaning."""

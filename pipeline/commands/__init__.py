"""The functions of the commands; shared/ has what two of them use."""

# Compare peaks, group means and whole curves between two conditions, in R; needs the package ncdf4.
#
#   Rscript docs/examples/statistics.R path/to/study.nc [CONDITION CONDITION]
#
# Without conditions, the study's two are compared.
#
# A person is one sample: cycles are averaged by participant, side and condition first. A side counts if the person
# has it under both conditions.

library(ncdf4)

arguments <- commandArgs(trailingOnly = TRUE)
file <- if (length(arguments)) arguments[1] else "data/demo/derived/study.nc"
if (file %in% c("-h", "--help") || !file.exists(file)) {
  if (!file %in% c("-h", "--help")) cat("error: no such file:", file, "\n")
  cat("usage: Rscript docs/examples/statistics.R path/to/study.nc [CONDITION CONDITION]\n")
  quit(status = if (file %in% c("-h", "--help")) 0 else 1)
}

# --- the file: dimensions are in the opposite order of Python's, labels are text --------------------------------------
study <- nc_open(file)
of_cycle <- function(name) as.vector(ncvar_get(study, name))
cycles <- data.frame(
  participant = of_cycle("participant"), side = of_cycle("side"), condition = of_cycle("condition"),
  peak = of_cycle("peak_ankle_plantarflexor_moment")
)
phase <- as.vector(ncvar_get(study, "phase"))
moment <- ncvar_get(study, "joint_moment_jcs", collapse_degen = FALSE)           # phase, angle, joint, cycle
ankle <- which(ncvar_get(study, "joint") == "ankle")
flexion <- which(ncvar_get(study, "angle") == "flexion")
curves <- t(moment[, flexion, ankle, ])                                          # cycle, phase
units <- ncatt_get(study, "joint_moment_jcs", "units")$value
nc_close(study)

conditions <- if (length(arguments) > 1) arguments[-1] else unique(cycles$condition)
if (length(conditions) != 2 || !all(conditions %in% cycles$condition)) {
  cat("error: the study's conditions are ", paste(unique(cycles$condition), collapse = ", "), "; name two of them after ",
      "the file\n", sep = "")
  quit(status = 1)
}
known <- cycles$condition %in% conditions & rowSums(is.na(curves)) == 0 & !is.na(cycles$peak)
cycles <- cycles[known, ]
curves <- curves[known, , drop = FALSE]

# --- one row per participant and condition ----------------------------------------------------------------------------
values <- cbind(peak = cycles$peak, curves)
sided <- aggregate(values, cycles[c("participant", "side", "condition")], mean)
seen <- ave(rep(1, nrow(sided)), sided$participant, sided$side, FUN = sum)
sided <- sided[seen == 2, ]
means <- aggregate(sided[, -(1:3)], sided[c("participant", "condition")], mean)
means <- means[order(means$condition, means$participant), ]
first <- as.matrix(means[means$condition == conditions[1], -(1:2)])
second <- as.matrix(means[means$condition == conditions[2], -(1:2)])
people <- nrow(first)
if (people < 3) {
  cat("error: fewer than 3 participants walked", paste(conditions, collapse = " and "), "\n")
  quit(status = 1)
}
cat("participants", people, "\n")

# --- a peak: paired t test on the participants' means; with nlme a mixed model of every cycle -------------------------
test <- t.test(second[, "peak"], first[, "peak"], paired = TRUE)
cat("peak: difference", test$estimate, units, ", 95 % interval", test$conf.int, ", p", test$p.value, "\n")
if (requireNamespace("nlme", quietly = TRUE)) {
  cycles$second <- as.numeric(cycles$condition == conditions[2])
  model <- nlme::lme(peak ~ second, random = ~ second | participant, data = cycles)
  cat("peak, mixed model: difference", nlme::fixef(model)["second"], units, "\n")
}

# --- group means with 95 % confidence bands, at each percent ----------------------------------------------------------
band <- function(x) {
  half <- qt(0.975, nrow(x) - 1) * apply(x, 2, sd) / sqrt(nrow(x))
  data.frame(phase = phase, mean = colMeans(x), low = colMeans(x) - half, high = colMeans(x) + half)
}
bands <- list(band(first[, -1]), band(second[, -1]))
cat("largest half width of the bands", sapply(bands, function(b) max(b$high - b$mean)), units, "\n")

# --- whole curves: the largest paired t of the curve, compared with those of all sign changes of the differences
#     (Nichols and Holmes 2002); exact, without assumptions on smoothness; needs 6 people for p < 0.05 --------------
difference <- second[, -1] - first[, -1]
t_of <- function(x) colMeans(x) / (apply(x, 2, sd) / sqrt(nrow(x)))
set.seed(0)
all_signs <- if (people <= 12) as.matrix(expand.grid(rep(list(c(1, -1)), people))) else
  rbind(1, matrix(sample(c(1, -1), 4095 * people, replace = TRUE), ncol = people))
squares <- colSums(difference^2)                                                  # independent of the signs
sums <- all_signs %*% difference
variance <- sweep(-sums^2 / people, 2, squares, "+") / (people - 1)
largest <- apply(abs(sums / sqrt(people * variance)), 1, max)
threshold <- sort(largest)[ceiling(0.95 * length(largest))]
cat("threshold of t", threshold, "\n")
above <- abs(t_of(difference)) > threshold * (1 + 1e-9)                           # more than rounding
runs <- rle(above)
ends <- cumsum(runs$lengths)
starts <- ends - runs$lengths + 1
for (i in which(runs$values)) cat("curves differ from", phase[starts[i]], "to", phase[ends[i]], "%\n")
if (!any(above)) cat("curves do not differ\n")

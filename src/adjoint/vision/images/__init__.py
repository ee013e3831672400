"""Low-level vision: neighbourhoods, filters, histograms, gradients and thresholds of images."""

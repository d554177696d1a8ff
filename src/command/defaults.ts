const MiB = 1024 * 1024

/** The defaults of everything that can be set for commands, by a program or by the settings of a daemon. */
export const COMMAND_DEFAULTS = {
  most: 500,
  graceMs: 2_000,
  environment: 'login',
  tree: 'auto',
  headBytes: 256 * 1024,
  tailBytes: 8 * MiB,
  totalBytes: 4 * 1024 * MiB,
  minFreeBytes: 128 * MiB,
} as const

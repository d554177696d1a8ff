export const inputCodes = [
  'unknown_pid',
  'ambiguous_pid',
  'pruned_pid',
  'denied',
  'not_command',
  'not_served',
  'already_ended',
  'not_begun',
  'no_input',
  'input_closed',
  'input_full',
] as const

/** Refusals of every verb that reads or changes one process by its pid, its name or a prefix. */
export const processCodes = ['unknown_pid', 'ambiguous_pid', 'pruned_pid', 'denied'] as const

/** Refusals of every verb that needs the keeper of a command. */
export const commandCodes = [...processCodes, 'not_command', 'not_served'] as const

/** Refusals of every verb that defines the process of a schedule or a trigger. `not_found`: also its image. */
export const occurrenceCodes = ['not_found', 'untrusted', 'invalid_request'] as const

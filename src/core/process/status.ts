/**
 * Where a process is now.
 *
 * | status   | start   | wait    | wait left | pause  | resume           | stop     | holder lost | end |
 * | queued   | running | –       | –         | paused | –                | stopping | –           | yes |
 * | running  | –       | waiting | –         | paused | –                | stopping | queued      | yes |
 * | waiting  | –       | –       | running   | paused | –                | stopping | queued      | yes |
 * | paused   | –       | paused  | paused    | –      | where it came from | stopping | paused    | yes |
 * | stopping | –       | –       | stopping  | –      | –                | stopping | stopping    | yes |
 *
 * `end` leads to `completed`, `failed`, `cancelled` or `abandoned`, and nothing leaves those.
 */
export type Status = LiveStatus | EndStatus

export const LIVE_STATUSES = ['queued', 'running', 'waiting', 'paused', 'stopping'] as const
export type LiveStatus = (typeof LIVE_STATUSES)[number]

export const REPORTED_ENDS = ['completed', 'failed', 'cancelled'] as const
/** How an executor or a caller may say that a process ended. Only Reeve itself abandons one. */
export type ReportedEnd = (typeof REPORTED_ENDS)[number]

export const END_STATUSES = [...REPORTED_ENDS, 'abandoned'] as const
export type EndStatus = (typeof END_STATUSES)[number]

export const PAUSED_FROM = ['queued', 'running', 'waiting'] as const
/** The status of a process after a pause. */
export type PausedFrom = (typeof PAUSED_FROM)[number]

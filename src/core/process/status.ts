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
export type LiveStatus = 'queued' | 'running' | 'waiting' | 'paused' | 'stopping'
export type EndStatus = 'completed' | 'failed' | 'cancelled' | 'abandoned'

/** What a paused process goes back to. */
export type PausedFrom = 'queued' | 'running' | 'waiting'

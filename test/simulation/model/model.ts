/** Which of two holders executes, as a client can tell. */
export type HolderName = 'k_a' | 'k_b'

/** One process as the documentation describes it; written independently of the deciders. */
export interface Model {
  status:
    | 'queued'
    | 'running'
    | 'waiting'
    | 'paused'
    | 'stopping'
    | 'completed'
    | 'failed'
    | 'cancelled'
    | 'abandoned'
  /** The status that a paused process returns to. */
  before: 'queued' | 'running' | 'waiting'
  holder: HolderName | null
  fence: number
  /** How often it was started. */
  begun: number
  /** The current wait: only signals of this name end it. */
  waitsFor: { name: string; ordinal: number } | null
  /** By name: the ids that no wait has taken, and all that were sent. */
  readonly untaken: Map<string, string[]>
  readonly sent: Map<string, string>
  /** How each former wait ended: with the id of a signal, an answer, or nothing. */
  readonly left: Map<string, string | null>
  /** Waits entered by the current holder, by name. */
  readonly entered: Map<string, number>
  stop: 'interrupt' | 'cancel' | 'kill' | null
  abandonAsked: boolean
  /** The replay key and status of the end. */
  end: { key: string; status: string } | null
  notes: Map<string, string>
}

export function newModel(): Model {
  return {
    status: 'queued',
    before: 'queued',
    holder: null,
    fence: 0,
    begun: 0,
    waitsFor: null,
    untaken: new Map(),
    sent: new Map(),
    left: new Map(),
    entered: new Map(),
    stop: null,
    abandonAsked: false,
    end: null,
    notes: new Map(),
  }
}

export function isOver({ status }: Model): boolean {
  return ['completed', 'failed', 'cancelled', 'abandoned'].includes(status)
}

export function endAs(model: Model, status: Model['status'], key: string): void {
  model.status = status
  model.end = { key, status }
  model.holder = null
  model.waitsFor = null
}

export function leaveWait(model: Model, how: string | null): void {
  if (model.waitsFor === null) return
  model.left.set(waitName(model.waitsFor), how)
  model.waitsFor = null
  if (model.status === 'waiting') model.status = 'running'
  else if (model.status === 'paused' && model.before === 'waiting') model.before = 'running'
}

export function waitName({ name, ordinal }: { name: string; ordinal: number }): string {
  return `${name} ${ordinal}`
}

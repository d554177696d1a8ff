import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'

type StoredEvent = OutputOf<'events'>['events'][number]

/** One step of a workflow, folded from its events. */
export interface Step {
  readonly stepIndex: number
  readonly kind: string
  readonly name: string
  readonly began: number
  /** Null while the step runs. */
  readonly ended: number | null
  readonly tries: number
  readonly error: string | null
  readonly retryAt: number | null
  readonly value?: unknown
}

const PAGE = 1_000
const KINDS: { readonly [on: string]: string } = {
  timer: 'sleep',
  signal: 'signal',
  message: 'receive',
  child: 'wait',
}

/** All steps of a workflow, in order. */
export async function stepsOf(reeve: ReeveVerbs, pid: string): Promise<Step[]> {
  const steps = new Map<number, Step>()
  const signals = new Map<number, unknown>()
  let after = 0
  for (;;) {
    const { events, count } = await reeve.events({ pid, after, limit: PAGE })
    for (const event of events) applyEvent(steps, signals, event)
    after = events.at(-1)?.seq ?? after
    if (events.length === 0 || after >= count) break
  }
  return [...steps.values()].sort((a, b) => a.stepIndex - b.stepIndex)
}

/** How many of the last events are searched for the last step. */
const TAIL = 50
const ENDS = ['step_ended', 'wait_left', 'child_registered']

/** How many steps have ended. The record counts only those that ran code, so the last events are read, too. */
export async function stepsBehind(reeve: ReeveVerbs, { pid, journal }: OutputOf<'show'>): Promise<number> {
  const { events } = await reeve.events({ pid, tail: TAIL })
  const stepIndexes = events.flatMap(({ type, payload }) => {
    const { stepIndex } = Object(payload) as { readonly stepIndex?: unknown }
    return ENDS.includes(type) && typeof stepIndex === 'number' ? [stepIndex] : []
  })
  return Math.max(journal?.last ?? 0, ...stepIndexes)
}

function applyEvent(steps: Map<number, Step>, signals: Map<number, unknown>, event: StoredEvent): void {
  const payload = event.payload as { readonly [key: string]: unknown }
  if (event.type.startsWith('signal.') || event.type === 'message_received')
    signals.set(event.seq, payload['value'])
  const stepIndex = payload === null ? undefined : payload['stepIndex']
  if (typeof stepIndex !== 'number') return
  const known = steps.get(stepIndex)
  const kind = KINDS[String(payload['on'])] ?? String(payload['kind'])
  const name = String(payload['name'] ?? payload['label'] ?? '')
  const step = { stepIndex, kind, name, tries: 1, error: null, retryAt: null, ended: null, ...known }
  const began = known?.began ?? event.at
  switch (event.type) {
    case 'wait_entered':
      steps.set(stepIndex, { ...step, began })
      break
    case 'wait_left': {
      const seq = payload['messageSeq'] ?? payload['signalSeq']
      const value = typeof seq === 'number' ? signals.get(seq) : payload['value']
      const said = payload['how'] === 'timed_out' ? 'timed out' : value
      const isTime = payload['on'] === 'timer'
      steps.set(stepIndex, { ...step, began, ended: event.at, ...(isTime ? {} : { value: said }) })
      break
    }
    case 'child_registered':
      steps.set(stepIndex, { ...step, kind: 'spawn', name, began, ended: event.at, value: payload['pid'] })
      break
    case 'step_tried':
      steps.set(stepIndex, {
        ...step,
        began,
        tries: Number(payload['tries']),
        error: String(payload['error']),
        retryAt: Number(payload['retryAt']),
      })
      break
    case 'step_ended': {
      const failed = payload['how'] === 'failed'
      steps.set(stepIndex, {
        ...step,
        began: known?.began ?? Number(payload['began']),
        ended: event.at,
        tries: Number(payload['tries']),
        error: failed ? String(payload['error']) : null,
        ...('value' in payload ? { value: payload['value'] } : {}),
      })
    }
  }
}

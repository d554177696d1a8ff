/** What to type after a turn that ended like this, so that the agent goes on. */
export function howToGoOn(called: string, { phase, reason, isOutside }: Stopped): string {
  const send = `reeve agent send ${called} "…"`
  if (phase === 'paused')
    return `reeve agent resume ${called}; ${send} would end the paused turn and begin another`
  const limit = /^limit:(?<name>\w+)$/.exec(reason ?? '')?.groups?.['name']
  // The window of a model is no amount that it may use.
  if (limit !== undefined && limit !== 'context')
    return `reeve agent allow ${called} ${limit}=<amount> adds to its limit, then ${send}`
  if (reason === 'setup_failed' && isOutside)
    return `${send} starts its program again once that is repaired; reeve agent --with <agent> "…" begins with another`
  if (reason === 'setup_failed')
    return `reeve agent model ${called} <provider/model> chooses another model, then ${send}`
  return send
}

/** Whether a text alone does not bring the agent to work: it is paused, has used its limit, or cannot call its model. */
export function needsMore({ phase, reason }: Pick<Stopped, 'phase' | 'reason'>): boolean {
  return phase === 'paused' || reason === 'setup_failed' || (reason ?? '').startsWith('limit:')
}

export interface Stopped {
  readonly phase: 'idle' | 'paused'
  /** Why the last turn ended that was seen; null if none was. */
  readonly reason: string | null
  /** A program of its own instead of a model: no other model can be chosen. */
  readonly isOutside: boolean
}

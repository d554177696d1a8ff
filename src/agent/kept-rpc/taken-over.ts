import type { ReeveVerbs } from '../../verbs/reeve.ts'

/**
 * Whether another keeper has taken a program over since a position of the feed. It does not know the numbers of earlier writes, so
 * a write that may have happened before must not be repeated.
 */
export async function isTakenOver(
  verbs: Pick<ReeveVerbs, 'waitFor'>,
  program: string,
  position: number,
): Promise<boolean> {
  const heard = await verbs.waitFor({ pid: program, types: ['taken_over'], timeoutMs: 0 })
  return heard.type === 'heard' && heard.event !== null && heard.event.position > position
}

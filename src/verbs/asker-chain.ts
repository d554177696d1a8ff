import type { OutputOf } from './reeve.ts'

type Request = Pick<OutputOf<'approval'>['approval']['request'], 'subject' | 'ancestors'>

/** Who asks, and the processes above, the nearest first. A process that asks for a call below it is named once. */
export function askerChain({ subject, ancestors }: Request): readonly string[] {
  const own = ancestors.findIndex((pid) => subject === `process:${pid}`)
  return [subject, ...ancestors.slice(own + 1)]
}

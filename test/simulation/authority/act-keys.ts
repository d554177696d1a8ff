import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'

/** An act, as far as it tells whether a later one is the same. */
export interface KnownAct {
  readonly record: Pick<ProcessRecord, 'kind' | 'spec' | 'cwd' | 'envRef' | 'owner'>
  /** Of a command: as its host found it. */
  readonly resolved: ResolvedAction | undefined
  /** The host that it is registered on. */
  readonly host: string
  readonly subject: string
  /** The nearest process above it that is not a tool. */
  readonly above: string | null
}

export type LastingGrant = 'process' | 'session' | 'always'

/** One text for each grant that remembers an answer: acts with the same text are the same act. */
export function actKeys(act: KnownAct): Readonly<Record<LastingGrant, string>> {
  const { record, resolved, host, subject, above } = act
  const { kind, spec, cwd, owner } = record
  const environment = kind === 'command' ? resolved?.environmentHash : record.envRef
  const what =
    kind === 'command'
      ? [spec['argv'] ?? spec['run'], resolved?.programs, resolved?.cwd]
      : [spec[kind], kind === 'agent' ? (spec['goal'] ?? null) : (spec['input'] ?? null), cwd]
  const same = [kind, what, host]
  const shown = kind === 'command' ? [resolved?.variables, resolved?.env] : [environment]
  return {
    process: JSON.stringify(['process', ...same, environment, subject, above]),
    session: JSON.stringify(['session', ...same, environment, owner.session]),
    always: JSON.stringify(['always', ...same, shown]),
  }
}

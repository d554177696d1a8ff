import type { ProcessFilter } from './list-processes.ts'
import type { Options } from './options.ts'
import { UsageError } from './usage-error.ts'

const STATUSES = [
  'ready',
  'running',
  'waiting',
  'paused',
  'stopping',
  'completed',
  'failed',
  'cancelled',
  'abandoned',
]
const KINDS = ['command', 'agent', 'workflow', 'tool', 'external']

/** Options that select processes. A process must match all that are given. */
export const FILTER_OPTIONS = {
  session: { type: 'texts', value: 'id', about: 'only processes of this session; repeatable' },
  status: { type: 'texts', value: 'status', choices: STATUSES, about: 'repeatable' },
  kind: { type: 'texts', value: 'kind', choices: KINDS, about: 'repeatable' },
  name: { type: 'texts', value: 'name', about: 'only processes of this name' },
  parent: { type: 'texts', value: 'pid', about: 'only children of this process' },
  waiting: { type: 'flag', about: 'only processes that wait: for a signal, a time, a child …' },
  'not-waiting': { type: 'flag', about: 'only processes that wait for nothing' },
} as const

export function filterOf(options: Options<typeof FILTER_OPTIONS>): ProcessFilter {
  const { session, status, kind, name, parent, waiting, 'not-waiting': notWaiting } = options
  if (waiting && notWaiting)
    throw new UsageError('Give either --waiting or --not-waiting, not both.', 'Leave one of them out.')
  const some = (values: readonly string[], key: string) => (values.length === 0 ? {} : { [key]: [...values] })
  return {
    ...(session.length === 0 ? {} : { owner: { session: [...session] } }),
    ...some(status, 'status'),
    ...some(kind, 'kind'),
    ...some(name, 'name'),
    ...some(parent, 'parent'),
    ...(waiting || notWaiting ? { waiting } : {}),
  }
}

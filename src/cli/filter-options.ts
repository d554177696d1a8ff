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

/** Which processes are meant; all that are given must fit. */
export const FILTER_OPTIONS = {
  session: { type: 'texts', value: 'id', about: 'of this session; may be given more than once' },
  status: { type: 'texts', value: 'status', choices: STATUSES, about: 'may be given more than once' },
  kind: { type: 'texts', value: 'kind', choices: KINDS, about: '' },
  name: { type: 'texts', value: 'name', about: 'of this name' },
  parent: { type: 'texts', value: 'pid', about: 'children of this process' },
  waiting: { type: 'flag', about: 'that wait for something: a signal, a time, a child …' },
  'not-waiting': { type: 'flag', about: 'that wait for nothing' },
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

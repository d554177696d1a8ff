import { embed } from '../../src/index.ts'
import { byCallers, inTurns, now } from '../clock.ts'
import { type Figure, figure, ratioAtLeast } from '../figure.ts'
import { learnAppend } from './append-shape.ts'
import type { Database } from './database.ts'
import { rawPostgresAppends } from './raw-postgres.ts'
import { rawSqliteAppends } from './raw-sqlite.ts'

const CALLERS = 64
const PROCESSES = 1_000
const SCHEMA = {
  type: 'object',
  properties: { n: { type: 'integer' }, text: { type: 'string' } },
  required: ['n', 'text'],
}

/** Durable appends of a declared event by 64 callers, against the raw database doing the same into the same tables. */
export async function* appends(
  database: Database,
  size: { count: number; rounds: number },
): AsyncGenerator<Figure> {
  const ours = await database.fresh()
  const theirs = await database.fresh()
  const pids = await registerProcesses(ours)
  const theirPids = await registerProcesses(theirs)
  const shape = await learnAppend(database, theirs, theirPids, (pid) => appendOne(theirs, pid))
  const raw = await (database.store === 'sqlite' ? rawSqliteAppends : rawPostgresAppends)(theirs, shape)
  const reeve = await embed({ store: ours })
  const appendHere = (index: number) =>
    reeve.append({ events: [event(pids[index % pids.length] ?? '', index)] })
  const rate = async (append: (index: number) => Promise<unknown>) => {
    const begun = now()
    await byCallers(size.count, CALLERS, append)
    return (size.count / (now() - begun)) * 1_000
  }
  try {
    await byCallers(PROCESSES, CALLERS, appendHere)
    await byCallers(PROCESSES, CALLERS, raw.append)
    const { first, ratio } = await inTurns(
      size.rounds,
      () => rate(appendHere),
      () => rate(raw.append),
    )
    const compared = { ratio, against: 'raw group commit into the same tables' }
    yield figure(
      `appends, ${CALLERS} callers: ${database.store}`,
      first,
      'appends/s',
      compared,
      ratioAtLeast(0.7),
    )
  } finally {
    await reeve.close()
    await raw.close()
  }
}

async function registerProcesses(store: string): Promise<string[]> {
  const reeve = await embed({ store })
  const processes = Array.from({ length: PROCESSES }, () => ({
    kind: 'external' as const,
    spec: { description: 'a program elsewhere' },
    eventTypes: { progress: { schema: SCHEMA } },
  }))
  const registered = await reeve.spawnMany({ processes })
  await reeve.close()
  return registered.processes.map(({ record }) => record.pid)
}

async function appendOne(store: string, pid: string): Promise<void> {
  const reeve = await embed({ store })
  await reeve.append({ events: [event(pid, 0)] })
  await reeve.close()
}

function event(pid: string, n: number) {
  return { pid, type: 'progress', payload: { n, text: 'a line of progress' } }
}

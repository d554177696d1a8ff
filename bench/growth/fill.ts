import { embed, type InputOf } from '../../src/index.ts'
import { until } from '../clock.ts'

export type EmbeddedReeve = Awaited<ReturnType<typeof embed>>
export type ListFilter = NonNullable<InputOf<'list'>['filter']>

const CHUNK = 500
const SESSIONS = 20
/** One process in this many has the label that the lists filter by. */
const RARE_EVERY = 20_000

/** Runs `count` no-op processes to their ends: of 20 sessions, ten labels, three definitions; one in ten fails. */
export async function fill(reeve: EmbeddedReeve, count: number): Promise<void> {
  for (let session = 0; session < SESSIONS; session++) await reeve.openSession({ session: `s${session}` })
  for (let first = 0; first < count; first += CHUNK) {
    const size = Math.min(CHUNK, count - first)
    const processes = Array.from({ length: size }, (_, index) => unit(first + index))
    await reeve.spawnMany({ processes })
    await until('the last ones have ended', async () => (await reeve.liveCount({})).live < CHUNK)
  }
  await until('every process has ended', async () => (await reeve.liveCount({})).live === 0)
}

/** An unread notice of an open session keeps its process. */
export async function endSessions(reeve: EmbeddedReeve): Promise<void> {
  for (let session = 0; session < SESSIONS; session++) await reeve.endSession({ session: `s${session}` })
}

export function openToFill(store: string): Promise<EmbeddedReeve> {
  return embed({
    store,
    tools: {
      unit: () => null,
      broken: () => {
        throw new Error('one in ten')
      },
    },
  })
}

function unit(index: number) {
  return {
    kind: 'tool' as const,
    spec: { tool: index % 10 === 9 ? 'broken' : 'unit', input: { number: index } },
    label: index % RARE_EVERY === 0 ? 'rare' : `label-${index % 10}`,
    definition: { flow: `flow-${index % 3}`, step: index % 1_000 },
    owner: { session: `s${index % SESSIONS}` },
    recovery: 'rerunnable' as const,
    lifetime: 'detached' as const,
  }
}

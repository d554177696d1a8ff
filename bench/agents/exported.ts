import { join } from 'node:path'
import { embed } from '../../src/index.ts'

/** The session log of the agent in a folder, as a user exports it. */
export interface Exported {
  /** All of it, as JSON lines. */
  readonly bytes: number
  /** Texts, tool inputs and results alone, without the facts about them: who, when, which turn, how many tokens. */
  readonly textBytes: number
  readonly entries: number
  /** Results that say that a tool failed. A session that is measured has none. */
  readonly errors: number
}

export function exported(folder: string): Promise<Exported> {
  return within(folder, async (reeve) => {
    const sum = { bytes: 0, textBytes: 0, entries: 0, errors: 0 }
    const { agents } = await reeve.agents({})
    const [agent] = agents
    if (agent === undefined) throw new Error(`${folder} has no agent.`)
    for (let after = 0, more = true; more; ) {
      const page = await reeve.exportAgent({ pid: agent.pid, after })
      for (const line of page.text.split('\n').filter(Boolean)) addEntry(sum, line)
      after = page.after
      more = page.more
    }
    return sum
  })
}

/** Prunes all that may be pruned: the tool calls before the live segment, and first what they started. Returns how many processes. */
export function pruneAll(folder: string): Promise<number> {
  return within(folder, async (reeve) => {
    for (let count = 0; ; ) {
      const { pruned } = await reeve.prune({ keep: 0 })
      if (pruned.length === 0) return count
      count += pruned.length
    }
  })
}

async function within<Answer>(
  folder: string,
  act: (reeve: Awaited<ReturnType<typeof embed>>) => Promise<Answer>,
): Promise<Answer> {
  const reeve = await embed({ store: join(folder, 'reeve.db') })
  try {
    return await act(reeve)
  } finally {
    await reeve.close()
  }
}

interface Entry {
  readonly type: string
  readonly payload: {
    readonly isError?: boolean
    readonly parts?: readonly { readonly text?: string; readonly input?: object }[]
  }
}

function addEntry(sum: { -readonly [Key in keyof Exported]: Exported[Key] }, line: string): void {
  const { type, payload } = JSON.parse(line) as Entry
  sum.bytes += Buffer.byteLength(line) + 1
  sum.entries += 1
  if (type === 'tool_answered' && payload.isError === true) sum.errors += 1
  for (const { text = '', input } of payload.parts ?? [])
    sum.textBytes += Buffer.byteLength(text) + (input === undefined ? 0 : JSON.stringify(input).length)
}

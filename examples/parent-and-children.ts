/**
 * A parent starts three children, waits for them, and then waits for a person's approval: a named signal.
 *
 * npx node --conditions=reeve-source examples/parent-and-children.ts
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embed, type ToolHandler } from 'reeve'

const draft: ToolHandler = ({ input }) => `a draft about ${input}`

const magazine: ToolHandler = async (context) => {
  const children = []
  for (const topic of ['owls', 'rivers', 'tea']) {
    children.push(await context.spawn({ kind: 'tool', spec: { tool: 'draft', input: topic } }))
  }
  const drafts = []
  for (const { pid } of children) drafts.push((await context.wait(pid)).outcome?.result ?? null)

  // May take a week and three restarts: the wait is in the store, not in memory.
  const answer = await context.waitForSignal('approved')
  return { drafts, approvedBy: answer.type === 'signal' ? answer.value : null }
}

const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
const reeve = await embed({ store: join(folder, 'reeve.db'), tools: { draft, magazine } })

const { record } = await reeve.spawn({
  kind: 'tool',
  spec: { tool: 'magazine' },
  name: 'magazine',
  // By default a tool is bound to its first holder, and never runs again.
  recovery: 'rerunnable',
})

// The signal may arrive before the process waits for it. It is stored.
await reeve.send({ pid: 'magazine', name: 'approved', value: 'the editor' })

const ended = await reeve.wait({ pid: record.pid })
if (ended.type === 'ended') console.log('magazine', ended.record.status, ended.record.outcome?.result)

const { processes } = await reeve.list({ filter: { parent: record.pid, status: 'any' } })
for (const { record: child } of processes) console.log('  child', child.status, child.outcome?.result)

await reeve.close()
await rm(folder, { recursive: true })

/** A program that plays the session of a coding agent (`coding-model.ts`): `<folder> <turns> <folder of the repository>`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CodingSession } from './coding-model.ts'
import { realText } from './real-text.ts'

const { embed } = (await import(
  new URL('./index.js', import.meta.url).href
)) as typeof import('../../src/index.ts')

/** About 150,000 tokens: a session is compacted before the window of a usual model is full. */
const SEGMENT_TURNS = 25

const [folder = '', last = '0', root = ''] = process.argv.slice(2)
const session = new CodingSession(realText(root))
const workspace = join(folder, 'workspace')
mkdirSync(workspace, { recursive: true })
session.makeWorkspace(workspace)
const reeve = await embed({
  store: join(folder, 'reeve.db'),
  commands: { home: join(folder, 'home') },
  models: { 'bench/coder': session.model() },
})
const spec = { agent: 'coder', model: 'bench/coder' }
const { pid } = (await reeve.spawn({ kind: 'agent', cwd: workspace, spec })).record
let turn = 0
for (let task = 0; task < Number(last); task++) {
  await reeve.runAgent({ pid, text: session.inputOf(task) })
  await reeve.waitAgent({ pid, turn: ++turn })
  if ((task + 1) % SEGMENT_TURNS > 0) continue
  await reeve.compactAgent({ pid })
  await reeve.waitAgent({ pid, turn: ++turn })
}
await reeve.close()

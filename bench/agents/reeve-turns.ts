/** A program that takes a session of Reeve to a turn: `<folder> <turn> <bytes of an answer> <bytes of an input>`. Prints a line of JSON per turn. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { embed } = (await import(
  new URL('./index.js', import.meta.url).href
)) as typeof import('../../src/index.ts')

const [folder = '', last = '0', answerBytes = '0', inputBytes = '0'] = process.argv.slice(2)
const script = join(folder, 'script.json')
// Lengths vary, as those of answers do: rows of one length may fill pages of a database well or badly by chance.
const lengths = [0.2, 0.4, 0.6, 0.8, 1, 1, 1.2, 1.4, 1.6, 1.8].map((part) => part * Number(answerBytes))
const prose = readFileSync(join(folder, 'prose.txt'), 'utf8')
if (!existsSync(script)) {
  const replies = lengths.map((length, index) => ({
    when: { input: `answer ${index}` },
    answer: { parts: [{ text: prose.slice(index * 10_000, index * 10_000 + length) }] },
  }))
  writeFileSync(script, JSON.stringify({ replies }))
}
const reeve = await embed({ store: join(folder, 'reeve.db') })
const { agents } = await reeve.agents({})
const pid =
  agents[0]?.pid ??
  (
    await reeve.spawn({
      kind: 'agent',
      cwd: folder,
      spec: { agent: 'helper', model: 'scripted/script.json' },
    })
  ).record.pid
let { turns } = agents[0] ?? { turns: 0 }
// A turn that a crash interrupted goes on by itself.
if (turns > 0) await reeve.waitAgent({ pid, turn: turns })
console.log(JSON.stringify({ resumed: turns }))
while (turns < Number(last)) {
  const begun = performance.now()
  await reeve.runAgent({
    pid,
    text: `answer ${turns % lengths.length}: ${prose.slice(turns * 100)}`.slice(0, Number(inputBytes)),
  })
  turns += 1
  await reeve.waitAgent({ pid, turn: turns })
  console.log(JSON.stringify({ turn: turns, ms: performance.now() - begun }))
}
await reeve.close()

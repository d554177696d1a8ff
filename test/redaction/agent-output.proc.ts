import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ask } from '../server/ask.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { SECRETS } from './corpus.ts'
import { expectNoSecrets } from './expect-no-secrets.ts'

const SECOND_WORD = 'Ul0OtoBB7'

/** In a text, other than in output, a value with a space in it ends at the space: the rest may be a command. A model sends no NULs. */
const TEXTS = SECRETS.filter(
  ({ text, secrets }) => !text.includes('\0') && !secrets.includes(SECOND_WORD),
).map(({ text }) => text)

test('secrets that a model streams appear on no surface, while it streams and afterwards', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { reeve } = daemon
  const text = `${TEXTS.join('\nsome text in between\n')}\nthe last line\n`
  const workspace = tempFolder()
  const parts = [{ thinking: text }, { text }]
  writeFileSync(join(workspace, 'script.json'), JSON.stringify({ answers: [{ parts, fragmentMs: 1 }] }))
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: workspace,
    spec: { agent: 'helper', model: 'scripted/script.json', goal: 'go', once: true },
  })
  const { pid } = record
  const streams = new Map<string, string>()
  for await (const seen of reeve.followAgent({ pid })) {
    if (seen.type === 'fragment') streams.set(seen.stream, (streams.get(seen.stream) ?? '') + seen.text)
    else expectNoSecrets(seen.type, seen)
  }
  expect(streams.get('thinking')).toContain('some text in between')
  for (const [stream, shown] of streams) expectNoSecrets(stream, shown)
  for (const path of [
    'log?limit=10000',
    'log?stream=text&limit=10000',
    'log?stream=thinking&limit=10000',
    'search?pattern=.&limit=1000&context=2',
    'output/stream',
    'events',
  ]) {
    const said = await ask(daemon, `GET /v1/processes/${pid}/${path}`)
    expect([path, said.status]).toEqual([path, 200])
    expectNoSecrets(path, said.text)
  }
  const poll = await ask(daemon, `POST /v1/processes/${pid}/poll`, {
    body: { cursor: 'o0', maxChars: 1_000_000 },
  })
  expect(poll.text).toContain('the last line')
  expectNoSecrets('poll', poll.text)
  for (const path of ['log?last=1000', 'export', 'export?format=markdown', 'export?format=ui-messages']) {
    const said = await ask(daemon, `GET /v1/agents/${pid}/${path}`)
    expect([path, said.status]).toEqual([path, 200])
    expect(said.text).toContain('some text in between')
    expectNoSecrets(path, said.text)
  }
})

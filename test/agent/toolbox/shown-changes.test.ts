import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { approvalCard } from '../../../src/cli/print/approval-card.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { approvalText } from '../../../src/verbs/approval-text.ts'
import type { OutputOf } from '../../../src/verbs/reeve.ts'
import { AgentBench } from './agent-bench.ts'
import type { Script } from './fake-agent.ts'

type Approval = OutputOf<'approval'>['approval']

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const ASK_WRITES = { effect: 'ask', resource: 'fs:**', rights: ['write'] }

/** What a person is asked, once the agent has made its last calls. The agent ends then. */
async function shown(
  bench: AgentBench,
  script: Script,
  count: number,
  rules: readonly JsonObject[] = [ASK_WRITES],
): Promise<readonly Approval[]> {
  const reeve = await bench.open()
  for (const rule of rules) await reeve.addRule({ rule })
  const pid = await bench.start(reeve, script)
  await expect.poll(async () => (await reeve.approvals({})).approvals.length).toBe(count)
  const { approvals } = await reeve.approvals({})
  await reeve.signal({ pid, signal: 'cancel' })
  return approvals
}

const changeOf = ({ request }: Approval) => (request.type === 'permission' ? request.change : undefined)
const cardOf = (approval: Approval) => Object.fromEntries(approvalCard(approval))
const write = (path: string, content: string) => ({ tool: 'write_file', input: { path, content } })
const read = (path: string) => ({ tool: 'read_file', input: { path } })

test('a request to edit a file shows path, size, hash and the changed lines, on every surface', async () => {
  const bench = new AgentBench()
  const file = join(bench.workspace, 'a.txt')
  writeFileSync(file, 'one\ntwo\nthree\n')
  const edits = [{ oldText: 'two', newText: 'TWO' }]
  const [approval, ...more] = await shown(
    bench,
    [[read('a.txt')], [{ tool: 'edit_file', input: { path: 'a.txt', edits } }]],
    1,
  )
  expect(more).toEqual([])
  if (approval === undefined) throw new Error('No request')
  const diff = '@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three'
  expect(changeOf(approval)).toEqual({
    path: file,
    before: { bytes: 14, hash: sha('one\ntwo\nthree\n') },
    after: { bytes: 14, hash: sha('one\nTWO\nthree\n') },
    diff,
    isCut: false,
  })
  expect(cardOf(approval)).toMatchObject({
    file,
    size: '14 bytes; 14 bytes before',
    hash: `SHA-256 ${sha('one\nTWO\nthree\n')}`,
    changes: diff,
    input: undefined,
  })
  const text = approvalText(approval)
  expect(text).toContain(
    [
      `File: ${file}`,
      'Size: 14 bytes; 14 bytes before',
      `Hash: SHA-256 ${sha('one\nTWO\nthree\n')}`,
      'Changes:',
      '  | @@ -1,3 +1,3 @@',
      '  |  one',
      '  | -two',
      '  | +TWO',
      '  |  three',
    ].join('\n'),
  )
  expect(text).not.toContain('Input:')
  const { subject } = approval.request
  expect(cardOf(approval)['who asks']).toBe(subject)
  expect(text).toContain(`Asked by: ${subject}, for ${approval.pid}`)
  const named = approvalCard(approval, new Map([[subject.replace('process:', ''), 'fixer']]))
  expect(Object.fromEntries(named)['who asks']).toBe(`fixer (${subject})`)
})

test('a request for a new file shows its lines, and of many only the first, with the whole input', async () => {
  const bench = new AgentBench()
  const long = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join('')
  const requests = await shown(bench, [[write('new.txt', 'a\nb\n'), write('long.txt', long)]], 2)
  // Calls of one answer are asked about in any order.
  const of = (name: string) => requests.find((request) => changeOf(request)?.path.endsWith(name))
  const [short, cut] = [of('new.txt'), of('long.txt')]
  if (short === undefined || cut === undefined) throw new Error('No request')
  expect(cardOf(short)).toMatchObject({
    size: '4 bytes, a new file',
    changes: '@@ -0,0 +1,2 @@\n+a\n+b',
    input: undefined,
  })
  expect(changeOf(cut)).toMatchObject({ before: null, after: { hash: sha(long) }, isCut: true })
  expect(changeOf(cut)?.diff?.split('\n')).toHaveLength(40)
  expect(cardOf(cut)['input']).toContain('line 99')
  expect(approvalText(cut)).toContain('… (the rest is in the input)')
  expect(approvalText(cut)).toContain('line 99')
})

test('a request tells nothing about a file that the agent has not seen as it is, or may not read', async () => {
  const bench = new AgentBench()
  writeFileSync(join(bench.workspace, 'unread.txt'), 'HIDDEN\n')
  const deny = { effect: 'deny', resource: 'fs:away/**', rights: ['read'] }
  const requests = await shown(
    bench,
    [[write('unread.txt', 'mine\n'), write('away/absent.txt', 'mine\n')]],
    2,
    [ASK_WRITES, deny],
  )
  for (const request of requests) {
    expect(changeOf(request)).toEqual({
      path: expect.stringContaining(bench.workspace),
      after: { bytes: 5, hash: sha('mine\n') },
      diff: null,
      isCut: false,
    })
    expect(JSON.stringify(request)).not.toContain('HIDDEN')
    expect(cardOf(request)).toMatchObject({
      size: '5 bytes',
      changes: 'not shown: the agent has not read the file as it is now',
      input: expect.stringContaining('mine'),
    })
  }
})

test('secrets are masked in what is shown of a change, also those of several lines', async () => {
  const bench = new AgentBench()
  const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'
  const key = `-----BEGIN PRIVATE KEY-----\n${`${line}\n`.repeat(5)}-----END PRIVATE KEY-----\n`
  const token = `ghp_${'a1B2'.repeat(9)}`
  const [approval] = await shown(bench, [[write('key.pem', `${key}token ${token}\nplain\n`)]], 1)
  const text = JSON.stringify(approval)
  expect(text).not.toContain(line)
  expect(text).not.toContain(token)
  expect(approval === undefined ? null : changeOf(approval)?.diff).toContain('+plain')
})

test('an edit that would be refused is asked about with its input, and shows no change', async () => {
  const bench = new AgentBench()
  const edits = [{ oldText: 'two', newText: 'TWO' }]
  const [approval] = await shown(bench, [[{ tool: 'edit_file', input: { path: 'no.txt', edits } }]], 1)
  if (approval === undefined) throw new Error('No request')
  expect(changeOf(approval)).toBeUndefined()
  expect(cardOf(approval)['input']).toContain('TWO')
})

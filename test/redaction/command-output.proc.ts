import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, overHttp } from '../mcp/connected.ts'
import { ask } from '../server/ask.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { ALL_SECRETS, expectNoSecrets, printsSecrets, runToEnd } from './expect-no-secrets.ts'

test('secrets that a command prints appear on no surface, and in no file but its log', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const line = printsSecrets()
  const plain = await runToEnd(daemon, line)
  const tagged = await runToEnd(daemon, line, { output: 'tagged' })
  const terminal = await runToEnd(daemon, line, { pty: { cols: 37, rows: 50 } })
  for (const pid of [plain, tagged, terminal]) {
    const paths = [
      'log?limit=10000',
      'log?ansi=keep',
      'search?pattern=.&limit=1000&context=2',
      'output?limit=1000000',
      'output/stream',
      'output/stream?offset=0000000000000123',
      'events',
      'events/stream',
      'usage',
      'wait',
      '',
      ...(pid === terminal ? ['screen', 'screen?scrollback=1000'] : []),
      ...(pid === tagged ? ['log?stream=stdout&limit=10000'] : []),
    ]
    for (const path of paths) {
      const said = await ask(daemon, `GET /v1/processes/${pid}/${path}`.replace(/\/$/, ''))
      expect([path, said.status]).toEqual([path, 200])
      const bytes = path.startsWith('output?') ? Buffer.from(said.json.bytes.$bytes, 'base64').toString() : ''
      expectNoSecrets(path, said.text + bytes)
    }
    const sse = await ask(daemon, `GET /v1/processes/${pid}/output/stream?offset=-1&live=sse`)
    const data = [...sse.text.matchAll(/^event: data\ndata:(.*)$/gm)].map(([, text]) => text ?? '')
    expectNoSecrets('sse', data.map((text) => Buffer.from(text, 'base64').toString()).join(''))
    const poll = await ask(daemon, `POST /v1/processes/${pid}/poll`, {
      body: { cursor: 'o0', maxChars: 1_000_000 },
    })
    expect(poll.text).toContain('the last line')
    expectNoSecrets('poll', poll.text)
    for (const secret of ALL_SECRETS.secrets.slice(0, 5)) {
      const waited = await daemon.reeve.wait({ pid, until: { text: secret } })
      expect(waited.type).toBe('ended')
    }
  }
  const client = await overHttp(daemon.reeve, { era: 'modern' })
  const begun = await call<{ process: { pid: string } }>(client, 'process_start', {
    run: line,
    waitMs: 5_000,
  })
  expectNoSecrets('process_start', [begun.text, begun.structured])
  const { pid } = begun.structured.process
  for (const [tool, given] of [
    ['process_poll', { pid }],
    ['process_log', { pid }],
    ['process_search', { pid, pattern: '.' }],
    ['process_list', { status: 'any' }],
    ['process_wait', { pid }],
    ['inbox', {}],
  ] as const) {
    const { text, structured, isError } = await call(client, tool, given)
    expect([tool, text, isError]).toEqual([tool, text, false])
    expectNoSecrets(tool, [text, structured])
  }
  for (const uri of [
    `reeve://processes/${pid}`,
    `reeve://processes/${pid}/log`,
    'reeve://processes',
    'reeve://inbox',
  ])
    expectNoSecrets(uri, await client.readResource({ uri }))
  await daemon.close()

  const files = readdirSync(temp.home.folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  for (const entry of files) {
    const path = join(entry.parentPath, entry.name)
    const isLog = /\/output\/p_[^/]+\/\d{15}$/.test(path)
    if (isLog) expect([path, (statSync(path).mode & 0o777).toString(8)]).toEqual([path, '600'])
    // The idle keeper exits and removes its files.
    else expectNoSecrets(path, textOrGone(path))
  }
  expect((statSync(join(temp.home.commands, 'output')).mode & 0o777).toString(8)).toBe('700')
})

describe('a secret in the output in another form than a variable', () => {
  const key = invented('printed in other ways', 36)
  const half = [key.slice(0, 18), key.slice(18)]
  const WAYS = {
    'a member of JSON': `{"user": "app", "api_key": "${key}"}`,
    'a setting of YAML': `database:\n  password: ${key}`,
    'a header': `> GET / HTTP/1.1\n> X-Api-Key: ${key}`,
    'a cookie': `< Set-Cookie: session=${key}; Path=/; HttpOnly`,
    'a token with a colour in its middle': `ghp_${half[0]}\u001b[31m${half[1]}\u001b[0m`,
    'an option of a traced command': `+ deploy --password '${key}' --verbose`,
  }

  test.each(Object.entries(WAYS))('%s is masked for an agent and in the output', async (_, text) => {
    const daemon = await new TempReeve().up()
    const file = join(tempFolder(), 'text')
    writeFileSync(file, `begin\n${text}\nend\n`)
    const client = await overHttp(daemon.reeve, { era: 'modern' })
    const run = { run: `cat ${file}`, waitMs: 30_000 }
    const begun = await call<{ process: { pid: string } }>(client, 'process_start', run)
    const { pid } = begun.structured.process
    await daemon.reeve.wait({ pid, timeoutMs: 30_000 })
    const answers = {
      process_start: begun,
      process_log: await call(client, 'process_log', { pid }),
      process_search: await call(client, 'process_search', { pid, pattern: '.' }),
    }
    for (const [what, answer] of Object.entries(answers))
      expectNoSecrets(what, answer, { secrets: [key, ...half] })
    const { bytes } = await daemon.reeve.output({ pid, offset: 0, limit: 100_000 })
    const output = Buffer.from(bytes).toString()
    expectNoSecrets('output', output, { secrets: [key, ...half] })
    expect(output).toHaveLength(`begin\n${text}\nend\n`.length)
    expect(output).toMatch(/^begin\n.*\nend\n$/s)
    const revealed = await daemon.reeve.output({ pid, offset: 0, limit: 100_000, reveal: true })
    expect(Buffer.from(revealed.bytes).toString()).toContain(text)
  })

  test('the rest of a secret that a terminal program wrote over is masked on its screen', async () => {
    const daemon = await new TempReeve().up()
    const file = join(tempFolder(), 'text')
    writeFileSync(file, `ghp_${key}\rdone`)
    const client = await overHttp(daemon.reeve, { era: 'modern' })
    const begun = await call<{ process: { pid: string } }>(client, 'process_start', {
      run: `cat ${file}`,
      pty: true,
      waitMs: 30_000,
    })
    const { pid } = begun.structured.process
    await daemon.reeve.wait({ pid, timeoutMs: 30_000 })
    const { lines } = await daemon.reeve.screen({ pid })
    expect(lines[0]).toBe(`done${'*'.repeat(36)}`)
    const revealed = await daemon.reeve.screen({ pid, reveal: true })
    expect(revealed.lines[0]).toBe(`done${key}`)
    expectNoSecrets('process_start', begun, { secrets: [key] })
    expect((await daemon.reeve.screen({ pid })).lines[0]).toBe(`done${'*'.repeat(36)}`)
  })
})

function textOrGone(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

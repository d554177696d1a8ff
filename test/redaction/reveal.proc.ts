import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { describe, expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { CommandLine } from '../cli/command-line.ts'
import { printed, start } from '../command/commands.ts'
import { ask } from '../server/ask.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { expectNoSecrets, runToEnd } from './expect-no-secrets.ts'

describe('reveal', () => {
  const secret = invented('revealed', 36)
  const line = (folder: string) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'text'), `ghp_${secret}\n`)
    return `cat ${join(folder, 'text')}; cat`
  }

  test('shows the output to the host, and is recorded with the process once a minute', async () => {
    await using temp = new TempReeve()
    const noted: object[] = []
    const reeve = await temp.embed({}, { onReveal: (revealed) => void noted.push(revealed) })
    const { pid } = await start(reeve, { run: line(tempFolder()), stdin: 'pipe' })
    await printed(reeve, pid, 'ghp_')
    expect((await reeve.log({ pid })).lines[0]?.text).toBe(`ghp_${'*'.repeat(36)}`)
    expect((await reeve.log({ pid, reveal: true })).lines[0]?.text).toBe(`ghp_${secret}`)
    expect((await reeve.poll({ pid, cursor: 'o0', reveal: true })).text).toContain(secret)
    expect((await reeve.search({ pid, text: secret, reveal: true })).total).toBe(1)
    expect(Buffer.from((await reeve.output({ pid, reveal: true })).bytes).toString()).toContain(secret)
    for await (const { bytes } of reeve.followOutput({ pid, reveal: true })) {
      expect(Buffer.from(bytes).toString()).toContain(secret)
      break
    }
    const { events } = await reeve.events({ pid })
    const revealed = events.filter(({ type }) => type === 'revealed')
    expect(revealed).toMatchObject([{ actor: 'host', payload: { source: 'host', verb: 'log' } }])
    expect(noted).toEqual([{ pid, actor: 'host', verb: 'log' }])
    await reeve.kill({ pid })
    expect((await reeve.log({ pid, reveal: true })).lines[0]?.text).toBe(`ghp_${secret}`)
    expect((await reeve.events({ pid })).events.at(-1)).toMatchObject({ type: 'ended' })
  })

  test('of an ended command is in the audit, and calls the listener', async () => {
    await using temp = new TempReeve()
    const noted: object[] = []
    const reeve = await temp.embed({}, { onReveal: (revealed) => void noted.push(revealed) })
    const { pid } = await start(reeve, { argv: ['true'] })
    await reeve.wait({ pid })
    for (const _ of ['first', 'again']) await reeve.log({ pid, reveal: true })
    expect((await reeve.audit()).entries).toMatchObject([
      { actor: 'host', target: `process:${pid}`, decision: 'revealed', inputs: { verb: 'log' } },
    ])
    expect(noted).toEqual([{ pid, actor: 'host', verb: 'log' }])
  })

  test('is refused to a session, and changes nothing', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    await reeve.openSession({ session: 's' })
    const { pid } = await start(
      reeve,
      { run: line(tempFolder()), stdin: 'pipe' },
      { owner: { session: 's' } },
    )
    await printed(reeve, pid, 'ghp_')
    const own = reeve.as('session:s')
    for (const asked of [
      own.log({ pid, reveal: true }),
      own.show({ pid, reveal: true }),
      own.events({ pid, reveal: true }),
      own.poll({ pid, reveal: true }),
      own.followOutput({ pid, reveal: true })[Symbol.asyncIterator]().next(),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'denied' })
    const first = await own.followOutput({ pid, terminal: true })[Symbol.asyncIterator]().next()
    expect(Buffer.from(first.value?.bytes ?? []).toString()).toBe(`ghp_${'*'.repeat(36)}\n`)
    expect((await reeve.events({ pid })).events.map(({ type }) => type)).not.toContain('revealed')
  })

  test('needs a token with the role admin over HTTP', async () => {
    const temp = new TempReeve()
    const daemon = await temp.up()
    const pid = await runToEnd(daemon, `${line(tempFolder())} </dev/null`)
    const { token } = new TokenFile(temp.home).create({ role: 'operate' })
    for (const path of [
      'log?reveal=true',
      'output/stream?reveal=true',
      'output?reveal=true',
      'events?reveal=true',
      'events/stream?reveal=true',
      '?reveal=true',
    ]) {
      const at = `GET /v1/processes/${pid}${path.startsWith('?') ? '' : '/'}${path}`
      expect(await ask(daemon, at, { token })).toMatchObject({ status: 403, json: { code: 'forbidden' } })
      expect(await ask(daemon, at, { token: daemon.token })).toMatchObject({ status: 200 })
    }
    for (const at of [
      'GET /v1/processes?reveal=true',
      'GET /v1/changes?reveal=true',
      'GET /v1/changes/stream?reveal=true',
    ]) {
      expect(await ask(daemon, at, { token })).toMatchObject({ status: 403, json: { code: 'forbidden' } })
      expect(await ask(daemon, at, { token: daemon.token })).toMatchObject({ status: 200 })
    }
    const stream = `GET /v1/processes/${pid}/output/stream`
    expect((await ask(daemon, `${stream}?reveal=true`, { token: daemon.token })).text).toContain(secret)
    for (const path of ['output/stream?terminal=true', 'output?terminal=true']) {
      const said = await ask(daemon, `GET /v1/processes/${pid}/${path}`, { token })
      expect(said.status).toBe(200)
      const isPage = path.startsWith('output?')
      const shown = isPage ? Buffer.from(said.json.bytes.$bytes, 'base64').toString() : said.text
      expectNoSecrets(path, shown, { secrets: [secret] })
    }
    expect((await ask(daemon, `${stream}?terminal=true`, { token: daemon.token })).text).toContain(secret)
    expect((await ask({ home: temp.home, url: null }, `${stream}?terminal=true`)).text).toContain(secret)
    expect((await ask(daemon, stream, { token: daemon.token })).text).not.toContain(secret)
    const reader = new TokenFile(temp.home).create({ role: 'read' })
    expect(await ask(daemon, `${stream}?terminal=true`, { token: reader.token })).toMatchObject({
      status: 403,
    })
    expect(temp.logged).toContainEqual(expect.objectContaining({ words: 'secrets were shown' }))
  })
})

test('a terminal shows secrets to an admin, and notes it; other roles see them masked', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const secret = invented('terminal', 36)
  const file = join(tempFolder(), 'text')
  writeFileSync(file, `ghp_${secret}\n`)
  const pid = await runToEnd(daemon, `cat ${file}`, { pty: true })
  const shown = () => temp.logged.filter(({ words }) => words === 'secrets were shown').length
  const tokens = new TokenFile(temp.home)
  const seenWith = async (token: string) => {
    const reeve = await connect({ url: daemon.url ?? '', token })
    try {
      let seen = ''
      for await (const { bytes } of await reeve.attach({ pid })) seen += Buffer.from(bytes).toString()
      return seen
    } finally {
      await reeve.close()
    }
  }
  expect(shown()).toBe(0)
  for (const role of ['read', 'operate'] as const)
    expect(await seenWith(tokens.create({ role }).token)).toBe(`ghp_${'*'.repeat(36)}\r\n`)
  expect(shown()).toBe(0)
  expect(await seenWith(tokens.create({ role: 'admin' }).token)).toBe(`ghp_${secret}\r\n`)
  expect(shown()).toBe(1)
})

test('on the command line, run in the foreground shows secrets, and logs show them with --reveal', async () => {
  const reeve = new CommandLine()
  const secret = invented('command line', 36)
  const file = join(tempFolder(), 'text')
  writeFileSync(file, `ghp_${secret}\n`)
  const ran = await reeve.run(['run', '--name', 'job', '--', 'cat', file])
  expect(ran).toMatchObject({ code: 0, stdout: `ghp_${secret}\n` })
  expect((await reeve.run(['logs', 'job'])).stdout).toBe(`ghp_${'*'.repeat(36)}\n`)
  expect((await reeve.run(['logs', '--reveal', 'job'])).stdout).toBe(`ghp_${secret}\n`)
  expect((await reeve.run(['search', 'job', secret])).code).toBe(1)
  expect((await reeve.run(['search', '--reveal', 'job', secret])).stdout).toContain(secret)
  await reeve.run(['run', '-d', '--', 'sh', '-c', `true ghp_${secret}`])
  for (const words of [['ps', '-a'], ['tree', '-a'], ['events'], ['ps', '-a', '--json']])
    expectNoSecrets(words.join(' '), (await reeve.run(words)).stdout, { secrets: [secret] })
  for (const words of [
    ['ps', '-a', '--reveal', '--json'],
    ['events', '--reveal', '--json'],
  ])
    expect((await reeve.run(words)).stdout).toContain(secret)
})

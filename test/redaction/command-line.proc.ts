import { describe, expect, test } from 'vitest'
import { start } from '../command/commands.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { expectNoSecrets } from './expect-no-secrets.ts'

describe('a command line', () => {
  const secret = invented('on a command line', 36)
  const hidden = { secrets: [secret, 'correct-horse', 'battery-staple'] }

  test('is shown without its secrets on every surface, and runs with them', async () => {
    const daemon = await new TempReeve().up()
    const { reeve } = daemon
    await reeve.openSession({ session: 's' })
    const line = `echo begun; test "$DB_PASSWORD" = correct-horse && read -r word && test "$word" = SITE_KEY=battery-staple && test ghp_${secret} = "ghp_$(printf %s ${secret.slice(0, 20)}'')${secret.slice(20)}"`
    const spec = {
      run: line,
      env: { DB_PASSWORD: 'correct-horse', lower_token: 'battery-staple' },
      stdin: { text: 'SITE_KEY=battery-staple\n' },
    }
    const owner = { session: 's' }
    const whole = { secrets: [`ghp_${secret}`, 'correct-horse', 'battery-staple'] }
    const spawned = await reeve.spawn({ kind: 'command', spec, owner, name: 'job' })
    const waited = await reeve.wait({ pid: spawned.record.pid })
    expect(waited).toMatchObject({ type: 'ended', record: { outcome: { exitCode: 0 } } })
    const again = await reeve.spawn({ kind: 'command', spec, owner })
    expect(again.warning).toBeUndefined()
    const restarted = await reeve.restart({ pid: spawned.record.pid })
    expect(await reeve.wait({ pid: restarted.record.pid })).toMatchObject({
      record: { outcome: { exitCode: 0 } },
    })
    const followed = []
    const { position } = await reeve.changes({ limit: 1_000 })
    for await (const event of reeve.follow({ after: 0 })) {
      followed.push(event)
      if (event.position >= position) break
    }
    const told = []
    for await (const notice of reeve.inbox({ scope: 'session:s' })) {
      told.push(notice)
      break
    }
    expect(told).toHaveLength(1)
    const answers = {
      spawned,
      told,
      waited,
      again,
      restarted,
      followed,
      list: await reeve.list({ filter: { status: 'any' } }),
      show: await reeve.show({ pid: spawned.record.pid }),
      events: await reeve.events({ pid: spawned.record.pid }),
      changes: await reeve.changes({ limit: 1_000 }),
      notices: await reeve.notices({ scope: 'session:s' }),
      http: (await ask(daemon, 'GET /v1/processes?filter={"status":"any"}')).text,
      stream: (await ask(daemon, 'GET /v1/changes/stream')).text,
      inbox: (await ask(daemon, 'GET /v1/inbox/stream?scope=session:s')).text,
    }
    for (const [what, answer] of Object.entries(answers)) {
      const text = JSON.stringify(answer)
      expect([what, whole.secrets.filter((one) => text.includes(one))]).toEqual([what, []])
    }
    expect(JSON.stringify(answers.show)).toContain('echo begun')
    const shown = await reeve.show({ pid: spawned.record.pid, reveal: true })
    expect(shown.spec).toEqual(spec)
  })

  test('is shown without its secrets to its parent of any kind', async () => {
    const daemon = await new TempReeve().up()
    const { reeve } = daemon
    await reeve.openSession({ session: 's' })
    const own = reeve.as('session:s')
    const { record: parent } = await own.spawn({ kind: 'external', spec: { description: 'an agent' } })
    const { record: child } = await reeve.spawn({
      kind: 'command',
      spec: { run: `: ghp_${secret} correct-horse`, env: { DB_PASSWORD: 'correct-horse' } },
      parent: parent.pid,
    })
    await reeve.wait({ pid: child.pid })
    const { position } = await reeve.changes({ limit: 1_000 })
    const followed = []
    for await (const event of own.follow({ after: 0 })) {
      followed.push(event)
      if (event.position >= position) break
    }
    const answers = {
      events: await reeve.events({ pid: parent.pid }),
      own: await own.events({ pid: parent.pid }),
      changes: await own.changes({ limit: 1_000 }),
      followed,
      stream: (await ask(daemon, `GET /v1/processes/${parent.pid}/events/stream`)).text,
      all: (await ask(daemon, 'GET /v1/changes/stream')).text,
    }
    expect(JSON.stringify(answers.own)).toContain('child_registered')
    for (const [what, answer] of Object.entries(answers)) expectNoSecrets(what, answer, hidden)
  })

  test.each([
    ['a token', `ghp_${secret}`, secret],
    ['a password', 'postgres://app:correcthorsebatterystaple@db/x', 'correcthorsebatterystaple'],
    ['a value that it was given', 'correcthorsebatterystaple', 'correcthorsebatterystaple'],
  ])('shows nothing of %s where its label is cut', async (_, text, within) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed({}, { redact: { values: ['correcthorsebatterystaple'] } })
    const begins = 118 - text.indexOf(within)
    for (const shown of [8, 12, within.length - 1]) {
      const padding = 'y'.repeat(begins - shown - 2)
      const { record } = await reeve.spawn({ kind: 'command', spec: { run: `: ${padding} ${text}` } })
      expect(record.identity.label).toHaveLength(120)
      expectNoSecrets(`${shown}`, record, { secrets: [within] })
      await reeve.wait({ pid: record.pid })
      expectNoSecrets(`${shown}`, await reeve.events({ pid: record.pid }), { secrets: [within] })
    }
  })

  test('is in no error that names it', async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const folder = `/nowhere/ghp_${secret}`
    const { outcome } = await start(reeve, { argv: ['true'] }, { cwd: folder })
    expect(outcome).toMatchObject({ reason: 'failed_start' })
    expectNoSecrets('outcome', outcome, hidden)
    const refused = await reeve.show({ pid: `ghp_${secret}` }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'RefusedError' })
    expectNoSecrets('refusal', [String(refused), (refused as Error).stack, refused], hidden)
  })
})

import { join } from 'node:path'
import { embed } from 'reeve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { expectNoSecrets } from './expect-no-secrets.ts'

test('where to reply is shown without secrets in notices, records and events', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const token = invented('where to reply', 36)
  await reeve.openSession({ session: 's' })
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: 'true' },
    owner: { session: 's' },
    replyTo: { url: `https://bot:${token}@chat.example.org`, headers: { 'x-api-key': token }, thread: 7 },
  })
  await reeve.wait({ pid: record.pid })
  const told = []
  for await (const notice of reeve.inbox({ scope: 'session:s' })) {
    told.push(notice)
    break
  }
  const answers = {
    record,
    told,
    notices: await reeve.notices({ scope: 'session:s', all: true }),
    show: await reeve.show({ pid: record.pid }),
    events: await reeve.events({ pid: record.pid }),
    changes: await reeve.changes({ limit: 1_000 }),
  }
  expect(answers.notices.notices[0]?.replyTo).toMatchObject({ thread: 7 })
  for (const [what, answer] of Object.entries(answers)) expectNoSecrets(what, answer, { secrets: [token] })
})

describe('a process that is no command', () => {
  const secret = invented('of a tool', 36)
  const hidden = { secrets: [secret, 'correcthorsebattery'] }
  const tools = {
    echo: ({ input }: { input: unknown }) => input as never,
    boom: () => {
      throw new Error(`postgres://app:correcthorsebattery@db refused ghp_${secret}`)
    },
  }
  const open = async (onReveal: (revealed: object) => void = () => undefined) => {
    const reeve = await embed({ store: join(tempFolder(), 'reeve.db'), tools, onReveal })
    onTestFinished(() => reeve.close())
    await reeve.openSession({ session: 's' })
    return reeve
  }

  test('has no secret in messages, reasons and notices', async () => {
    const reeve = await open()
    const { record } = await reeve.spawn({
      kind: 'tool',
      spec: { tool: 'boom', input: null },
      label: `with ghp_${secret}`,
      owner: { session: 's' },
    })
    const { pid } = record
    const waited = await reeve.wait({ pid })
    expect(waited).toMatchObject({ record: { outcome: { status: 'failed' } } })
    const told = []
    for await (const notice of reeve.inbox({ scope: 'session:s' })) {
      told.push(notice)
      break
    }
    const answers = {
      record,
      waited,
      told,
      any: await reeve.waitAny({ pids: [pid] }),
      all: await reeve.waitAll({ pids: [pid] }),
      heard: await reeve.waitFor({ pid, types: ['ended'] }),
      notices: await reeve.notices({ scope: 'session:s', all: true }),
      show: await reeve.show({ pid }),
      list: await reeve.list({ filter: { status: 'any' } }),
      events: await reeve.events({ pid }),
      changes: await reeve.changes({ limit: 1_000 }),
    }
    for (const [what, answer] of Object.entries(answers)) expectNoSecrets(what, answer, hidden)
    const { record: external } = await reeve.spawn({ kind: 'external', spec: { description: 'it' } })
    await reeve.signal({ pid: external.pid, signal: 'cancel', reason: `because of ghp_${secret}` })
    expectNoSecrets('stop', await reeve.show({ pid: external.pid }), hidden)
    expectNoSecrets(
      'stop requested',
      await reeve.waitFor({ pid: external.pid, types: ['stop_requested'] }),
      hidden,
    )
  })

  test('has its session and its grants shown without secrets', async () => {
    const reeve = await open()
    const label = `ghp_${secret}`
    const opened = await reeve.openSession({ session: 'v', label })
    const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'it' } })
    const descriptor = { note: label, password: 'correcthorsebattery' }
    const granted = await reeve.grant({ session: 'v', pids: [record.pid], descriptor })
    const answers = {
      opened,
      granted,
      sessions: await reeve.sessions({}),
      grants: await reeve.grants({ session: 'v' }),
    }
    expect(answers.grants.grants).toHaveLength(1)
    for (const [what, answer] of Object.entries(answers)) expectNoSecrets(what, answer, hidden)
  })

  test('passes its input and result to programs unmasked, and masks them everywhere else', async () => {
    const noted: object[] = []
    const reeve = await open((revealed) => void noted.push(revealed))
    const input = { token: `ghp_${secret}`, password: 'correcthorsebattery' }
    const { record } = await reeve.spawn({
      kind: 'tool',
      spec: { tool: 'echo', input },
      eventTypes: { said: { schema: {} } },
    })
    const { pid } = record
    expect(await reeve.wait({ pid })).toMatchObject({
      record: { spec: { input }, outcome: { result: input } },
    })
    const { record: external } = await reeve.spawn({
      kind: 'external',
      spec: { description: 'it' },
      eventTypes: { said: { schema: {} } },
    })
    await reeve.append({ events: [{ pid: external.pid, type: 'said', payload: input }] })
    await reeve.send({ pid: external.pid, name: 'go', value: input })
    const heard = await reeve.waitFor({ pid: external.pid, types: ['said'] })
    expect(heard).toMatchObject({ event: { payload: input } })
    expect(await reeve.waitFor({ pid: external.pid, types: ['signal.go'] })).toMatchObject({
      event: { payload: { value: input } },
    })
    const seen = async (reveal: boolean) => {
      const followed = []
      const { position } = await reeve.changes({ limit: 1_000 })
      for await (const event of reeve.follow({ after: 0, reveal })) {
        followed.push(event)
        if (event.position >= position) break
      }
      return {
        followed,
        show: await reeve.show({ pid, reveal }),
        list: await reeve.list({ filter: { status: 'any' }, reveal }),
        events: await reeve.events({ pid, reveal }),
        changes: await reeve.changes({ limit: 1_000, reveal }),
      }
    }
    for (const [what, answer] of Object.entries(await seen(false))) expectNoSecrets(what, answer, hidden)
    for (const answer of Object.values(await seen(true)))
      expect(JSON.stringify(answer)).toContain(`ghp_${secret}`)
    expect(noted).toEqual([
      { pid, actor: 'host', verb: 'follow' },
      { pid: external.pid, actor: 'host', verb: 'follow' },
    ])
    const { events } = await reeve.events({ pid: external.pid })
    expect(events.filter(({ type }) => type === 'revealed')).toHaveLength(1)
    const own = reeve.as('session:s')
    for (const asked of [
      own.list({ reveal: true }),
      own.changes({ reveal: true }),
      own.follow({ reveal: true })[Symbol.asyncIterator]().next(),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'denied' })
  })
})

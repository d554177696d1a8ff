import { embed, type Reeve } from 'reeve'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const CANARY = 'canary-5e0b7c1d9a3f2468'

async function outcomeOf(reeve: Reeve, pid: string) {
  const ended = await reeve.wait({ pid })
  if (ended.type !== 'ended') throw new Error(`${pid} has not ended`)
  return ended.record.outcome
}

const LOOKS = [
  { kind: 'tool', spec: { tool: 'look' } },
  { kind: 'workflow', spec: { workflow: 'look' } },
] as const

function environmentOf(variables: Record<string, string | { secret: string }>) {
  return { variables, policy: {}, options: {} }
}

async function serving(values: Readonly<Record<string, string>>, store = tempStore()) {
  const seen: unknown[] = []
  const reeve = await embed({
    store,
    secrets: { read: () => values },
    tools: {
      look: ({ env }) => {
        seen.push(env)
        return Object.keys(env)
      },
      tell: ({ env }) => {
        throw new Error(`the server said: ${env['TOKEN']} is wrong`)
      },
    },
    workflows: {
      look: async (ctx) => {
        seen.push(ctx.env)
        return ctx.step('names', () => Object.keys(ctx.env))
      },
    },
  })
  onTestFinished(() => reeve.close())
  return { reeve, seen }
}

test('tools and workflows get the variables of their environment, with the values of secrets', async () => {
  const { reeve, seen } = await serving({ npm: CANARY })
  const { envRef } = await reeve.putEnvironment(environmentOf({ MODE: 'fast', TOKEN: { secret: 'npm' } }))
  for (const kind of LOOKS) {
    const { record } = await reeve.spawn({ ...kind, envRef })
    expect(await outcomeOf(reeve, record.pid)).toMatchObject({
      status: 'completed',
      result: ['MODE', 'TOKEN'],
    })
    const bare = await reeve.spawn(kind)
    expect(await outcomeOf(reeve, bare.record.pid)).toMatchObject({ status: 'completed', result: [] })
  }
  const given = { MODE: 'fast', TOKEN: CANARY }
  expect(seen).toEqual([given, {}, given, {}])
})

test('a process that names an unset secret fails before its code starts, and names the secret', async () => {
  const { reeve, seen } = await serving({ npm: CANARY })
  const { envRef } = await reeve.putEnvironment(
    environmentOf({
      A: { secret: 'npm' },
      B: { secret: 'missing' },
      C: { secret: 'env:REEVE_TEST_NO_SUCH' },
    }),
  )
  for (const kind of LOOKS) {
    const { record } = await reeve.spawn({ ...kind, envRef })
    expect(await outcomeOf(reeve, record.pid)).toMatchObject({
      status: 'failed',
      reason: 'The secrets missing, env:REEVE_TEST_NO_SUCH are not set.',
      result: { code: 'secret_unknown' },
    })
  }
  expect(seen).toEqual([])
})

test('the value of a secret is masked wherever its process repeats it', async () => {
  const { reeve } = await serving({ npm: CANARY })
  const { envRef } = await reeve.putEnvironment(environmentOf({ TOKEN: { secret: 'npm' } }))
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'tell' }, envRef })
  const masked = `the server said: ${'*'.repeat(CANARY.length)} is wrong`
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({ status: 'failed', reason: masked })
  const { events } = await reeve.events({ pid: record.pid })
  expect(JSON.stringify([events, await reeve.show({ pid: record.pid })])).not.toContain(CANARY)
  expect(await reeve.environment({ envRef })).toEqual(environmentOf({ TOKEN: { secret: 'npm' } }))
})

test('the value of a variable that is a secret by its environment is masked, also after a restart', async () => {
  vi.stubEnv('REEVE_TEST_MYVAL1', CANARY)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const store = tempStore()
  const { reeve } = await serving({}, store)
  const variables = { TOKEN: { secret: 'env:REEVE_TEST_MYVAL1' } }
  const { envRef } = await reeve.putEnvironment(environmentOf(variables))
  const { pid } = (await reeve.spawn({ kind: 'tool', spec: { tool: 'tell' }, envRef })).record
  await outcomeOf(reeve, pid)
  const told = async (from: Reeve) => JSON.stringify([await from.show({ pid }), await from.events({ pid })])
  const masked = `the server said: ${'*'.repeat(CANARY.length)} is wrong`
  expect(await told(reeve)).toContain(masked)
  expect(await told(reeve)).not.toContain(CANARY)
  await reeve.close()
  const { reeve: next } = await serving({}, store)
  expect(await told(next)).toContain(masked)
  expect(await told(next)).not.toContain(CANARY)
})

test.each(['constructor', '__proto__', 'env:constructor', 'toString'])(
  '%s is no secret that is set',
  async (name) => {
    const { reeve, seen } = await serving({})
    const { envRef } = await reeve.putEnvironment(environmentOf({ TOKEN: { secret: name } }))
    const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'look' }, envRef })
    expect(await outcomeOf(reeve, record.pid)).toMatchObject({
      status: 'failed',
      reason: `The secret ${name} is not set.`,
    })
    expect(seen).toEqual([])
  },
)

test('a session cannot store an environment that names a secret', async () => {
  const { reeve } = await serving({ npm: CANARY })
  await reeve.openSession({ session: 's1' })
  await expect(
    reeve.as('session:s1').putEnvironment(environmentOf({ TOKEN: { secret: 'npm' } })),
  ).rejects.toMatchObject({ code: 'denied' })
})

import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { McpSession } from '../../src/mcp/session.ts'
import { embedTemp } from '../embed-temp.ts'
import { until } from '../keeper/client.ts'
import { call, ERAS, overStdio } from './connected.ts'

/** The same Reeve, with a record of its calls. */
function noting(reeve: Reeve): { reeve: Reeve; asked: string[] } {
  const asked: string[] = []
  const noted = <Whole extends object>(whole: Whole): Whole =>
    new Proxy(whole, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver)
        if (typeof member !== 'function') return member
        if (name === 'as') return (...given: unknown[]) => noted(member.apply(target, given) as object)
        return (...given: unknown[]) => {
          asked.push(String(name))
          return member.apply(target, given)
        }
      },
    })
  return { reeve: noted(reeve), asked }
}

async function still(): Promise<Reeve> {
  const reeve = await embedTemp()
  return reeve
}

for (const era of ERAS) {
  test(`in the ${era} era background work uses the quiet connection, which starts no daemon`, async () => {
    const whole = await still()
    const [loud, quiet] = [noting(whole), noting(whole)]
    const client = await overStdio(loud.reeve, { era, quiet: quiet.reeve })
    await client.listTools()
    if (era === 'legacy') await client.subscribeResource({ uri: 'reeve://processes' })
    else await client.listen({ resourceSubscriptions: ['reeve://processes'] })
    await until('it was looked at again', () => quiet.asked.filter((verb) => verb === 'list').length > 1)
    expect(loud.asked).toEqual([])
    await call(client, 'process_list')
    expect(loud.asked).toEqual(['sessions', 'list'].slice(quiet.asked.includes('sessions') ? 1 : 0))
    expect((await whole.sessions()).sessions).toEqual([])
  })
}

test('every change touches the session, and so does a connected client from time to time', async () => {
  const { reeve, asked } = noting(await still())
  const session = new McpSession({ reeve, quiet: reeve }, 's1', { label: 'test', derived: false })
  await session.change((acting) => acting.list())
  const touches = () => asked.filter((verb) => verb === 'touchSession').length
  expect(touches()).toBe(1)
  const now = Date.now()
  await session.touch(now)
  await session.touch(now + 10_000)
  expect(touches()).toBe(1)
  await session.touch(now + 30_000)
  expect(touches()).toBe(2)
  expect((await reeve.sessions()).sessions).toMatchObject([{ id: 's1', label: 'test', endedAt: null }])
})

test('a request does not wait for a quiet connection that cannot be made', async () => {
  const reeve = await still()
  const nowhere = { ...reeve, sessions: () => new Promise<never>(() => {}) }
  const session = new McpSession({ reeve, quiet: nowhere }, 'mcp-a', { label: 'test', derived: true })
  void session.touch()
  const { processes } = await (await session.acting()).list()
  expect(processes).toEqual([])
})

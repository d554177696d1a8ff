import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { call, ERAS, overHttp } from './connected.ts'

for (const era of ERAS) {
  test(`in the ${era} era process_list shows an agent its own process after a page of others`, async () => {
    const reeve = await embedTemp()
    for (const session of ['mine', 'others']) await reeve.openSession({ session })
    const outside = { kind: 'external', spec: { description: 'x' } } as const
    const foreign = Array.from({ length: 30 }, () => ({ ...outside, owner: { session: 'others' } }))
    await reeve.spawnMany({ processes: foreign })
    const { record } = await reeve.spawn({ ...outside, owner: { session: 'mine' } })
    const caller = { role: 'agent', actor: 'session:mine', tokenId: 't' } as const
    const client = await overHttp(reeve, { era, caller })
    const { text } = await call(client, 'process_list')
    expect(text).toContain(record.pid)
    expect(text).not.toContain('Older ones')
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toContain(`reeve://processes/${record.pid}`)
  })
}

import { startPostgresPlace } from '../durable/place.ts'
import { embed } from '../../src/index.ts'
import { Staged } from '../../src/store/postgres/staged.ts'
const place = await startPostgresPlace()
const reeve = await embed({ store: await place.fresh(), tools: { t: async () => undefined }, engines: { s: async (ctx, n) => { for (let i = 0; i < Number(n); i++) await ctx.step('a', () => i) }, w: async (ctx) => { await ctx.signal('go') } } })
const orig = Staged.prototype.apply
console.log('--- tool spawn')
const shape = (changes: any[]) => changes.map((c) => c.type === 'process' ? `process(${c.was === null ? 'new' : c.was.record === c.row.record ? 'lease' : 'update'} [${c.events.map((e: any) => e.type)}])` : c.type).join(' ')
Staged.prototype.apply = function (changes, reading) { const r = orig.call(this, changes, reading); console.log('plan', shape(changes as any[]), 'guards', [...reading.guards.keys()].map((k) => k.slice(0, 20)).join(','), String(r)); return r }
const wait = () => new Promise((r) => setTimeout(r, 300))
await reeve.spawn({ kind: 'tool', spec: { tool: 't', input: 1 }, recovery: 'rerunnable' }); await wait()
console.log('--- engine 3 steps')
await reeve.spawn({ kind: 'engine', spec: { engine: 's', input: 3 } }); await wait()
console.log('--- wait')
const { record } = await reeve.spawn({ kind: 'engine', spec: { engine: 'w', input: 3 } }); await wait()
console.log('--- signal')
await reeve.send({ pid: record.pid, name: 'go' }); await wait()
await reeve.close(); await place.stop()

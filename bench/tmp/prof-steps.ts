import { mkdtempSync, rmSync } from 'node:fs'
import { embed } from '../../src/index.ts'
const dir = mkdtempSync('/tmp/prof-')
const store = process.argv[2] ?? `${dir}/r.db`
const reeve = await embed({ store, engines: { s: async (ctx, n) => { for (let i = 0; i < Number(n); i++) await ctx.step('a', () => i) } } })
for (let r = 0; r < 3; r++) {
  const b = performance.now(); const c = process.cpuUsage()
  const { record } = await reeve.spawn({ kind: 'engine', spec: { engine: 's', input: 10000 } })
  await reeve.wait({ pid: record.pid })
  const u = process.cpuUsage(c)
  console.log(10000 / (performance.now() - b) * 1000, 'steps/s cpu/step', (u.user + u.system) / 1e7)
}
await reeve.close(); rmSync(dir, { recursive: true })

/**
 * A workflow is killed in the middle, and continues in another OS process: no finished step runs twice.
 *
 * npx node --conditions=reeve-source examples/workflow.ts
 */
import { fork } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embed, type WorkflowFunction } from 'reeve'

const [, file = '', role, folder = ''] = process.argv

const order: WorkflowFunction = async (ctx, item) => {
  const note = (line: string) => appendFile(join(folder, 'done.txt'), `${line}\n`)
  const receipt = await ctx.step('charge', async ({ key }) => {
    await note(`charged for ${item}`)
    // Pass the key to an external service, so that even a repeated call charges once.
    return `receipt ${key.slice(-1)}`
  })
  const address = await ctx.waitForSignal<string>('address')
  await ctx.step('ship', () => note(`shipped ${item} to ${address}`))
  return { item, receipt, address }
}

if (role === 'worker') {
  await embed({ store: join(folder, 'reeve.db'), workflows: { order } })
  // The channel closes when the parent has ended.
  process.on('disconnect', () => process.exit())
} else {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
  const startWorker = () => {
    const worker = fork(file, ['worker', folder])
    const gone = new Promise((resolve) => worker.once('exit', resolve))
    return { kill: () => worker.kill('SIGKILL') && gone }
  }

  const shop = await embed({ store: join(folder, 'reeve.db') })
  const { record } = await shop.spawn({ kind: 'workflow', spec: { workflow: 'order', input: 'a lamp' } })
  const { pid } = record

  const first = startWorker()
  await shop.waitFor({ pid, types: ['wait_entered'] })
  await first.kill()
  console.log('killed after the first step, while it waited')

  await shop.send({ pid, name: 'address', value: 'Elm Street 5' })
  const second = startWorker()
  const ended = await shop.wait({ pid })
  if (ended.type === 'ended') console.log(ended.record.status, ended.record.outcome?.result)
  process.stdout.write(await readFile(join(folder, 'done.txt'), 'utf8'))

  await second.kill()
  await shop.close()
  await rm(folder, { recursive: true })
}

import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { CommandLine } from './command-line.ts'

test('a workflow is started, listed and shown with its steps; a missing server is reported', async () => {
  const reeve = new CommandLine()
  const unserved = await reeve.run(['workflow', 'start', 'publsh', '{"title":"News"}', '--name', 'early'])
  expect(unserved.code).toBe(0)
  expect(unserved.stdout).toMatch(/^p_[0-9a-z]{12}\n$/)
  expect(unserved.stderr).toContain(
    "No program serves the workflow publsh now. The process waits for one that does: reeve.workflow('publsh', …).",
  )
  const worker = await connect({ home: reeve.temp.home.folder })
  onTestFinished(() => worker.close())
  await worker.workflow('publish', async (ctx, input) => {
    const draft = await ctx.step('draft', () => `a text on ${(input as { title: string }).title}`)
    await ctx.step(
      'check',
      ({ attempt }) => {
        if (attempt === 1) throw new Error('spelling')
      },
      { retry: { times: 1, backoffMs: 0 } },
    )
    return { draft, by: await ctx.waitForSignal('approved') }
  })
  const misspelt = await reeve.run(['workflow', 'start', 'publis'])
  expect(misspelt.stderr).toContain('publish')
  const started = await reeve.run(['workflow', 'start', 'publish', '{"title":"News"}', '--name', 'news'])
  expect(started.stderr).toBe('')
  const pid = started.stdout.trim()
  await worker.waitFor({ pid, types: ['wait_entered'] })
  const list = await reeve.run(['workflow', 'list'])
  expect(list.stdout.split('\n')[0]).toMatch(/^PID +WORKFLOW +STEPS +STATUS +STARTED +NAME$/)
  expect(list.stdout).toMatch(new RegExp(`${pid} +publish +2 +waiting for signal approved +.* news`))
  expect(list.stderr).toContain('Served now: publish.')
  expect((await reeve.run(['ps', '-q', '--waiting'])).stdout).toBe(`${pid}\n`)
  expect((await reeve.run(['ps', '-q', '--not-waiting'])).stdout.split('\n')).not.toContain(pid)
  expect(await reeve.run(['ps', '--waiting', '--not-waiting'])).toMatchObject({ code: 2 })
  await reeve.run(['send', '--signal', 'approved', '--value', '"Ada"', 'news'])
  expect((await reeve.run(['wait', 'news'])).code).toBe(0)
  const shown = (await reeve.run(['workflow', 'show', 'news'])).stdout
  expect(shown).toMatch(/^result +\{"draft":"a text on News","by":"Ada"\}$/m)
  expect(shown).toMatch(/^1 +step +draft +\S+ \S+ +\S+ +"a text on News"$/m)
  expect(shown).toMatch(/^2 +step +check +\S+ \S+ +\S+ +\(try 2\)$/m)
  expect(shown).toMatch(/^3 +signal +approved +\S+ \S+ +\S+ +"Ada"$/m)
  const { steps } = await reeve.json<{ steps: unknown[] }>('workflow', 'show', 'news')
  expect(steps).toHaveLength(3)
})

test('the list counts every ended step of a workflow, sleeps and signals too', async () => {
  const reeve = new CommandLine()
  await reeve.run(['ps'])
  const worker = await connect({ home: reeve.temp.home.folder })
  onTestFinished(() => worker.close())
  await worker.workflow('wander', async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.sleep(1)
    await ctx.waitForSignal('on')
    await ctx.waitForSignal('home')
  })
  const pid = (await reeve.run(['workflow', 'start', 'wander', '--name', 'walk'])).stdout.trim()
  await reeve.run(['send', '--signal', 'on', pid])
  const isHome = (name: unknown) => name === 'home'
  for await (const { type, payload } of worker.follow({ filter: { pid } }))
    if (type === 'wait_entered' && isHome(Object(payload).name)) break
  expect((await reeve.run(['workflow', 'list'])).stdout).toMatch(
    new RegExp(`${pid} +wander +3 +waiting for signal home`),
  )
  expect((await reeve.run(['show', 'walk'])).stdout).toMatch(/^status +waiting for signal home$/m)
})

test('workflow start --wait prints the result, and fails as the function does', async () => {
  const reeve = new CommandLine()
  // Starts a daemon.
  await reeve.run(['ps'])
  const worker = await connect({ home: reeve.temp.home.folder })
  onTestFinished(() => worker.close())
  await worker.workflow('double', async (_, input) => {
    if (typeof input !== 'number') throw new Error('not a number')
    return input * 2
  })
  expect(await reeve.run(['workflow', 'start', 'double', '21', '--wait'])).toMatchObject({
    code: 0,
    stdout: '42\n',
  })
  expect(await reeve.run(['workflow', 'start', 'double', '-', '-w'], { input: '4' })).toMatchObject({
    stdout: '8\n',
  })
  const failed = await reeve.run(['workflow', 'start', 'double', '"x"', '--wait'])
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toContain('failed not a number')
  expect(await reeve.run(['workflow', 'start', 'double', '{oops'])).toMatchObject({ code: 2 })
  expect(await reeve.run(['workflow', 'begin', 'double'])).toMatchObject({ code: 2 })
  expect(await reeve.run(['workflow', 'start', 'nobody', '-w', '-t', '1ms'])).toMatchObject({ code: 124 })
})

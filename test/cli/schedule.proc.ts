import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { CommandLine } from './command-line.ts'

/** `reeve schedule` and `reeve trigger`: what their options change, and what they refuse. */

const NIGHTLY = ['schedule', 'add', 'nightly', '--cron', '0 2 * * *', '--zone', 'UTC', '--', 'true']

test('a part of the times of a schedule can be edited, and the rest stays', async () => {
  const line = new CommandLine()
  await line.run(NIGHTLY)
  const edit = ['schedule', 'edit', 'nightly', '--zone', 'Asia/Tokyo', '--end', '2999-01-01T00:00Z', '--json']
  expect(JSON.parse((await line.run(edit)).stdout)).toMatchObject({
    times: { cron: '0 2 * * *', zone: 'Asia/Tokyo', end: Date.parse('2999-01-01T00:00Z') },
    process: { spec: { argv: ['true'] } },
  })
  const start = ['schedule', 'edit', 'nightly', '--start', '2998-01-01T00:00Z', '--json']
  expect(JSON.parse((await line.run(start)).stdout).times).toMatchObject({
    ...{ cron: '0 2 * * *', zone: 'Asia/Tokyo' },
    ...{ start: Date.parse('2998-01-01T00:00Z'), end: Date.parse('2999-01-01T00:00Z') },
  })
  const rest = ['schedule', 'edit', 'nightly', '--cron', '0 4 * * *', '--end', 'none', '--json']
  expect(JSON.parse((await line.run(rest)).stdout).times).toEqual({
    ...{ type: 'cron', cron: '0 4 * * *', zone: 'Asia/Tokyo' },
    start: Date.parse('2998-01-01T00:00Z'),
  })
})

test('an agent of a schedule and of a trigger is made from its image', async () => {
  const line = new CommandLine()
  const cwd = tempFolder()
  const system = 'You count files.'
  writeFileSync(join(cwd, 'counter.json'), JSON.stringify({ models: ['scripted/demo'], system }))
  await line.run(['image', 'register', 'counter.json'], { cwd })
  const what = ['--agent', 'count', '--image', 'counter', '--json']
  const spec = { agent: 'counter', model: 'scripted/demo', system, goal: 'count', once: true }
  const schedule = await line.run(['schedule', 'add', 'a', '--every', '1h', ...what], { cwd })
  expect(JSON.parse(schedule.stdout).process).toMatchObject({ spec, cwd })
  const trigger = await line.run(['trigger', 'add', 'a', '--on', 'ended', ...what], { cwd })
  expect(JSON.parse(trigger.stdout).trigger.process).toMatchObject({ spec, cwd })
})

test('an option without effect, a zone and an expression that cannot be read are refused', async () => {
  const line = new CommandLine()
  await line.run(NIGHTLY)
  await line.run(['trigger', 'add', 'hook', '--on', 'ended', '--', 'true'])
  for (const [words, said] of [
    [
      ['schedule', 'edit', 'nightly', '--in', '1h', '--end', '2999-01-01'],
      '--end has no effect without --cron or --every',
    ],
    [['schedule', 'edit', 'nightly', '--model', 'a/b'], '--model has no effect without --agent'],
    [
      ['schedule', 'add', 'x', '--every', '1h', '--zone', 'UTC', '--', 'true'],
      '--zone has no effect without --cron',
    ],
    [
      ['schedule', 'add', 'x', '--every', '1h', '--input', '1', '--', 'true'],
      '--input has no effect without --workflow',
    ],
    [['trigger', 'edit', 'hook', '--max-bytes', '10'], '--max-bytes has no effect without --webhook'],
    [['trigger', 'edit', 'hook'], 'What changes?'],
    [['schedule', 'edit', 'nightly'], 'What changes?'],
    [
      ['schedule', 'add', 'x', '--cron', '0 2 * * *', '--cron', '0 3 * * *', '--', 'true'],
      '--cron was given 0 2 * * * and 0 3 * * *.',
    ],
    [['schedule', 'add', 'x', '--cron', '0 2 * *', '--', 'true'], '0 2 * * has 4 fields'],
    [
      ['trigger', 'add', 'x', '--on', 'ended', '--folder', '.', '--', 'true'],
      '--folder has no effect without --files',
    ],
    [
      ['schedule', 'edit', 'nightly', '--zone', 'Mars/Base'],
      'The times cannot be computed: Mars/Base is no time zone.',
    ],
    [
      ['schedule', 'edit', 'nightly', '--cron', '61 * * * *'],
      'The times cannot be computed: Invalid value for minute',
    ],
  ] as const) {
    const { code, stderr } = await line.run([...words])
    expect(stderr).toContain(said)
    expect(code).toBe(2)
  }
})

test('a part of the source of a trigger can be edited, and the rest stays', async () => {
  const line = new CommandLine()
  const cwd = tempFolder()
  const folder = join(cwd, 'inbox')
  mkdirSync(folder)
  const edited = async (...options: string[]) => {
    const { stdout } = await line.run(['trigger', 'edit', ...options, '--json'], { cwd })
    return JSON.parse(stdout).trigger.source
  }
  await line.run(['trigger', 'add', 'f', '--files', '*.csv', '--folder', 'inbox', '--', 'true'], { cwd })
  expect(await edited('f', '--debounce', '20s')).toMatchObject({ folder, glob: '*.csv', debounceMs: 20_000 })
  expect(await edited('f', '--files', '*.tsv')).toMatchObject({ folder, glob: '*.tsv', debounceMs: 20_000 })
  await line.run(['trigger', 'add', 'w', '--webhook', '--match', 'a=b', '--', 'true'])
  expect(await edited('w', '--max-bytes', '10')).toMatchObject({ filter: { a: 'b' }, maxBytes: 10 })
  expect(await edited('w', '--match', 'q=r')).toMatchObject({ filter: { q: 'r' }, maxBytes: 10 })
  expect(await edited('w', '--webhook')).toMatchObject({ filter: {} })
  const mistyped = ['trigger', 'add', 'e', '--on', 'endd', '--of-name', 'build', '--', 'true']
  expect((await line.run(mistyped)).stderr).toContain('Did you mean ended?')
  expect(await edited('e', '--of-kind', 'command')).toMatchObject({ on: ['endd'], name: ['build'] })
  expect(await edited('e', '--on', 'ended')).toEqual({ type: 'event', on: ['ended'] })
})

test('the help of an action is that of its subcommand, and names the values of an option once', async () => {
  const line = new CommandLine()
  const { stdout } = await line.run(['help', 'schedule', 'add'])
  expect(stdout).toContain('if the one before still runs: skip (the default)')
  expect(stdout).not.toContain('allow; if')
})

test('a schedule says why its last occurrence failed, and a folder or a program that is missing is told when it is added', async () => {
  const line = new CommandLine()
  const added = await line.run(['schedule', 'add', 'broken', '--every', '1s', '--', './nosuchprogram'])
  expect(added).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('There is no program ./nosuchprogram'),
  })
  const folder = await line.run(['schedule', 'add', 'x', '--every', '1h', '--cwd', '/nosuch', '--', 'true'])
  expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no folder /nosuch.') })
  const shown = async () => (await line.run(['schedule', 'show', 'broken'])).stdout
  await expect.poll(shown, { timeout: 30_000 }).toMatch(/because +p_\w+: .*nosuchprogram/)
})

test('a schedule whose session has ended is not resumed, and says with which session it ended', async () => {
  const line = new CommandLine()
  await line.run(['session', 'open', 's1'])
  await line.run(['schedule', 'add', 'sa', '--every', '1h', '--as', 'session:s1', '--', 'true'])
  await line.run(['session', 'end', 's1'])
  // The sessions below are ended in the background.
  const resumed = async () => {
    await line.run(['schedule', 'pause', 'sa'])
    return line.run(['schedule', 'resume', 'sa'])
  }
  await expect
    .poll(async () => (await resumed()).stderr, { timeout: 30_000 })
    .toContain('its session schedule:sa has ended, with the session s1 above it')
  expect((await resumed()).code).toBe(5)
})

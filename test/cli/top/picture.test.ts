import { describe, expect, test } from 'vitest'
import { coloursFor } from '../../../src/cli/print/colour.ts'
import { keysIn } from '../../../src/cli/top/keys.ts'
import {
  answeredBy,
  changed,
  EMPTY,
  loaded,
  type Picture,
  withPorts,
  withSamples,
} from '../../../src/cli/top/picture.ts'
import { press } from '../../../src/cli/top/press.ts'
import { render } from '../../../src/cli/top/render.ts'

type ProcessRecord = Parameters<typeof loaded>[1][number]
type Usage = NonNullable<
  Parameters<typeof withSamples>[1] extends ReadonlyMap<string, infer Look> ? Look : never
>

const PLAIN = coloursFor({}, {}, 'never')
const NOW = 1_000_000
const SIZE = { cols: 100, rows: 8 }

function record(name: string, given: object = {}): ProcessRecord {
  const command = {
    kind: 'command',
    spec: { run: `run-${name}` },
    identity: { label: name, definition: null },
  }
  const times = { firstStarted: { at: NOW - 60_000, holder: 'k' }, createdAt: NOW - 60_000, revision: 3 }
  const rest = { parent: null, owner: {}, status: 'running', outcome: null }
  return { pid: `p_${name}`, name, ...command, ...times, ...rest, ...given } as unknown as ProcessRecord
}

function look(at: number, cpuMs: number, memoryBytes: number, outputBytes: number): Usage {
  const unknown = { peakMemoryBytes: null, readBytes: null, writtenBytes: null, sampled: true }
  return { at, usage: { ...unknown, cpuMs, memoryBytes, outputBytes } }
}

/** A tree: a server with two workers, and beside it a build. */
function serverAndBuild(): Picture {
  const records = [
    record('server'),
    record('quiet', { parent: 'p_server' }),
    record('busy', { parent: 'p_server' }),
    record('build', { createdAt: NOW - 50_000, firstStarted: { at: NOW - 50_000, holder: 'k' } }),
  ]
  const known = loaded(EMPTY, records, NOW)
  const first = new Map([
    ['p_busy', look(NOW - 2_000, 1_000, 0, 100)],
    ['p_build', look(NOW - 2_000, 500, 0, 0)],
  ])
  const second = new Map([
    ['p_busy', look(NOW, 4_000, 5 << 20, 2_148)],
    ['p_build', look(NOW, 700, 1 << 20, 0)],
  ])
  return withSamples(withSamples(known, first), second)
}

const drawn = (picture: Picture, size = SIZE) =>
  render(picture, size, PLAIN, NOW).map((line) =>
    line.replace('\u001b[7m', '').replace('\u001b[27m', '').trimEnd(),
  )

function pressing(picture: Picture, ...keys: string[]): Picture {
  return keys.reduce((now, key) => press(now, key, 5).picture, picture)
}

describe('the picture', () => {
  test('is a tree with the usage of each process, totals above and keys below, as high as the terminal', () => {
    expect(drawn(serverAndBuild())).toEqual([
      'reeve top · 4 running · CPU 160% · memory 6.0 MiB · output 1.0 KiB/s',
      '    CPU     MEMORY     OUTPUT/S  STATUS       AGE  PROCESS',
      '>                                running       1m  server  run-server',
      '   150%    5.0 MiB    1.0 KiB/s  running       1m  ├─ busy  run-busy',
      '                                 running       1m  └─ quiet  run-quiet',
      '  10.0%    1.0 MiB        0 B/s  running      50s  build  run-build',
      '',
      '? help · q quit · l logs · a attach · k kill · p pause · / filter · s sort',
    ])
  })

  test('has a column of ports if a process listens, and none otherwise', () => {
    const found = new Map([
      ['p_busy', [8080]],
      ['p_build', [1, 2, 3, 4]],
    ])
    const open = withPorts(serverAndBuild(), ['p_busy', 'p_build'], found)
    expect(drawn(open)[1]).toBe('    CPU     MEMORY     OUTPUT/S  STATUS       AGE  PORTS       PROCESS')
    expect(drawn(open)[3]).toContain(':8080       ├─ busy')
    expect(drawn(open)[5]).toContain(':1 :2 :3 …  build')
    const closed = withPorts(open, ['p_busy', 'p_build'], new Map())
    expect(drawn(closed)[1]).not.toContain('PORTS')
  })

  test('is never wider than the terminal, nor higher', () => {
    const long = loaded(EMPTY, [record('a', { spec: { run: 'x'.repeat(500) } })], NOW)
    for (const size of [
      { cols: 60, rows: 10 },
      { cols: 70, rows: 4 },
      { cols: 200, rows: 30 },
    ]) {
      const lines = drawn(long, size)
      expect(lines).toHaveLength(size.rows)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(size.cols)
    }
    expect(drawn(long, { cols: 1, rows: 1 })).toHaveLength(1)
  })

  test('marks the column that it is sorted by, and none for the tree', () => {
    const titles = (...keys: string[]) => drawn(pressing(serverAndBuild(), ...keys))[1]
    expect(titles()).not.toMatch(/[▼▲]/)
    expect(titles('s')).toBe('   CPU▼     MEMORY     OUTPUT/S  STATUS       AGE  PROCESS')
    expect(titles('s', 's')).toContain('    MEMORY▼ ')
    expect(titles('s', 's', 's')).toContain('    OUTPUT/S▼ ')
    expect(titles('s', 's', 's', 's')).toContain('  AGE▲ ')
    expect(titles('s', 's', 's', 's', 's')).toMatch(/ PROCESS▲$/)
  })

  test('on a narrow terminal leaves facts out whole, and room for names', () => {
    const narrow = { cols: 80, rows: 10 }
    const ended = { status: 'cancelled', exitCode: null, reason: 'killed', signal: 'SIGTERM', endedAt: NOW }
    const killed = record('build', { outcome: ended, status: 'cancelled', revision: 4 })
    const paused = record('quiet', { parent: 'p_server', status: 'paused', revision: 4 })
    const picture = changed(serverAndBuild(), [killed, paused], NOW)
    expect(drawn(picture, narrow)[0]).toBe(
      'reeve top · 2 running, 1 paused · CPU 150% · memory 5.0 MiB · output 1.0 KiB/s',
    )
    expect(drawn(picture, { cols: 70, rows: 10 })[0]).toBe(
      'reeve top · 2 running, 1 paused · CPU 150% · memory 5.0 MiB',
    )
    expect(drawn(picture, narrow).find((line) => line.includes('build'))).toBe(
      '>                                cancelled     1m  build  run-build',
    )
    expect(drawn(picture).join('\n')).toContain('cancelled SIGTERM')
  })

  test('shows the awaited condition of a waiting process', () => {
    const waiting = (name: string, wait: object, moreWaits: object[] = []) =>
      record(name, { kind: 'workflow', status: 'waiting', wait, moreWaits })
    const picture = loaded(
      EMPTY,
      [
        waiting('ask', { on: 'signal', name: 'go', until: null }),
        waiting('nap', { on: 'timer', name: 'nap', until: NOW + 90_000 }, [{}]),
      ],
      NOW,
    )
    expect(drawn(picture)[2]).toContain('ask  waits for signal go · workflow ask')
    expect(drawn(picture)[3]).toContain('nap  waits 1m30s and 1 more · workflow nap')
  })

  test('wraps messages instead of cutting them, and keeps the selected row visible', () => {
    const many = loaded(
      EMPTY,
      Array.from({ length: 20 }, (_, at) => record(`n${at + 10}`)),
      NOW,
    )
    const said = { ...pressing(many, 'end'), said: 'There was no more room for it. '.repeat(3).trim() }
    const lines = drawn(said, { cols: 50, rows: 8 })
    expect(lines.slice(-2)).toEqual([
      'There was no more room for it. There was no more',
      'room for it. There was no more room for it.',
    ])
    expect(lines).toHaveLength(8)
    expect(lines[5]).toMatch(/^> .*n29/)
  })

  test('shows no control characters of process names', () => {
    const evil = loaded(EMPTY, [record('a', { spec: { run: 'printf \u001b[2J\r\nboo' } })], NOW)
    expect(drawn(evil).join('\n')).toContain('printf  [2J boo')
    expect(drawn(evil).join('')).not.toContain('\u001b')
  })

  test('scrolls to the selected row', () => {
    const many = loaded(
      EMPTY,
      Array.from({ length: 20 }, (_, at) => record(`n${String(at).padStart(2, '0')}`)),
      NOW,
    )
    const last = pressing(many, 'end')
    expect(drawn(last).filter((line) => line.includes('run-n'))).toHaveLength(5)
    expect(drawn(last)[6]).toMatch(/^> .*n19/)
    expect(drawn(pressing(last, 'home'))[2]).toMatch(/^> .*n00/)
    expect(drawn(pressing(many, 'page-down'))[6]).toMatch(/^> .*n05/)
  })
})

describe('an ended process', () => {
  const ended = (at: number) => ({ status: 'failed', exitCode: 7, reason: null, signal: null, endedAt: at })

  test('is shown for ten seconds with its end, and then no more', () => {
    const just = changed(
      serverAndBuild(),
      [record('build', { outcome: ended(NOW), status: 'failed', revision: 4 })],
      NOW,
    )
    expect(drawn(just).find((line) => line.includes('build'))).toContain('failed 7')
    const later = changed(just, [], NOW + 10_000)
    expect(drawn(later).join()).not.toContain('build')
  })

  test('stays as long as something below it lives', () => {
    const old = record('server', { outcome: ended(NOW - 99_000), status: 'failed', revision: 9 })
    const picture = changed(serverAndBuild(), [old], NOW)
    expect(drawn(picture)[2]).toContain('server')
    expect(drawn(picture)[3]).toContain('├─ ')
  })

  test('is not undone by an older answer that comes late', () => {
    const after = changed(
      serverAndBuild(),
      [record('build', { outcome: ended(NOW), status: 'failed', revision: 4 })],
      NOW,
    )
    expect(changed(after, [record('build')], NOW).records.get('p_build')?.status).toBe('failed')
  })
})

describe('keys', () => {
  test('are told apart however they arrive', () => {
    expect(keysIn(Buffer.from('\u001b[Aq\u001b[6~\rä\u001b'))).toEqual([
      'up',
      'q',
      'page-down',
      'enter',
      'ä',
      'esc',
    ])
    expect(keysIn(Buffer.from('\u001b[1;5Cx\u001b[<0;1;1Mj'))).toEqual(['x', 'j'])
  })

  test('sort within each parent, and a busy child brings its tree up', () => {
    const byCpu = pressing(serverAndBuild(), 's')
    expect(byCpu.sort).toBe('cpu')
    const names = drawn(byCpu).flatMap((line) => /run-(\w+)/.exec(line)?.[1] ?? [])
    expect(names).toEqual(['server', 'busy', 'quiet', 'build'])
    const byAge = pressing(byCpu, 's', 's', 's')
    expect(byAge.sort).toBe('age')
    expect(drawn(byAge)[2]).toContain('build')
    expect(pressing(byAge, 's', 's').sort).toBe('tree')
  })

  test('a filter shows matching processes and their ancestors; Esc shows all again', () => {
    const filtered = pressing(serverAndBuild(), '/', 'B', 'u', 's', 'y', 'x', 'backspace', 'enter')
    const shown = (picture: Picture) => drawn(picture).flatMap((line) => /run-(\w+)/.exec(line)?.[1] ?? [])
    expect(shown(filtered)).toEqual(['server', 'busy'])
    expect(drawn(filtered).at(-1)).toMatch(/^only "Busy" \(Esc: all\) · \? help · q quit/)
    expect(shown(pressing(filtered, 'esc'))).toHaveLength(4)
    expect(drawn(pressing(serverAndBuild(), '/', 'z', 'z', 'enter'))[2]).toContain('No process matches "zz"')
  })

  test('k asks; only y kills, and a later selection changes nothing', () => {
    const asking = pressing(serverAndBuild(), 'down', 'down', 'down', 'k')
    expect(drawn(asking).at(-1)).toBe(
      'Kill build and everything it started? y kills, any other key does not.',
    )
    expect(press(asking, 'y', 5).act).toEqual({ act: 'kill', pid: 'p_build' })
    for (const key of ['n', 'k', 'q', 'enter', 'esc']) {
      const { act, picture } = press(asking, key, 5)
      expect(act).toBeNull()
      expect(picture.mode).toEqual({ in: 'list' })
    }
  })

  test('p pauses a running process and resumes a paused one', () => {
    const paused = changed(serverAndBuild(), [record('server', { status: 'paused', revision: 4 })], NOW)
    expect(press(serverAndBuild(), 'p', 5).act).toEqual({ act: 'pause', pid: 'p_server' })
    expect(press(paused, 'p', 5).act).toEqual({ act: 'resume', pid: 'p_server' })
  })

  test('attaching to a process without a terminal is refused by name', () => {
    const { picture, act } = press(serverAndBuild(), 'enter', 5)
    expect(act).toBeNull()
    expect(drawn(picture).at(-1)).toContain('server has no terminal to attach to')
    const shell = loaded(EMPTY, [record('shell', { spec: { run: 'sh', pty: true } })], NOW)
    expect(press(shell, 'a', 5).act).toEqual({ act: 'attach', pid: 'p_shell' })
  })

  test('l shows the last output, ? explains the keys; any key goes back', () => {
    const { picture, act } = press(serverAndBuild(), 'l', 5)
    expect(act).toEqual({ act: 'logs', pid: 'p_server' })
    expect(drawn(picture).slice(0, 2)).toEqual(['The last output of server', 'Loading …'])
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\u001b[2J`)
    const read: Picture = { ...picture, mode: { in: 'logs', pid: 'p_server', lines } }
    expect(drawn(read)).toHaveLength(8)
    expect(drawn(read)[6]).toBe('line 19 [2J')
    expect(press(read, 'k', 5)).toMatchObject({ act: null, picture: { mode: { in: 'list' } } })
    const help = pressing(serverAndBuild(), '?')
    expect(drawn(help, { cols: 80, rows: 24 }).join('\n')).toContain('Press any key to go back.')
    expect(drawn(help, { cols: 80, rows: 24 }).join('\n')).not.toContain('…')
    expect(drawn(help, { cols: 20, rows: 3 })).toHaveLength(3)
    expect(press(help, 'q', 5)).toMatchObject({ act: null, picture: { mode: { in: 'list' } } })
    const workflow = loaded(EMPTY, [record('publish', { kind: 'workflow' })], NOW)
    expect(press(workflow, 'l', 5).act).toBeNull()
    expect(drawn(pressing(workflow, 'l'), { cols: 200, rows: 8 }).at(-1)).toContain(
      'reeve workflow show p_publish',
    )
  })

  test('without a process, keys do nothing', () => {
    for (const key of ['k', 'p', 'a', 'enter', 'down', 'end', 's', '/'])
      expect(press(EMPTY, key, 5).act).toBeNull()
    expect(press(EMPTY, 'q', 5).act).toEqual({ act: 'quit' })
    expect(press(pressing(serverAndBuild(), '/'), 'ctrl-c', 5).act).toEqual({ act: 'quit' })
  })

  test('the selection stays on its process; when the process is gone, it moves to the neighbour', () => {
    const chosen = pressing(serverAndBuild(), 'down', 'down', 'down')
    const more = changed(chosen, [record('early', { createdAt: NOW - 90_000 })], NOW)
    expect(drawn(more).find((line) => line.startsWith('>'))).toContain('build')
    const gone = loaded(chosen, [record('server'), record('quiet', { parent: 'p_server' })], NOW)
    expect(drawn(gone).find((line) => line.startsWith('>'))).toContain('quiet')
  })
})

describe('the daemon', () => {
  test('that does not answer is named after a moment', () => {
    const asked = { ...serverAndBuild(), askedAt: NOW - 3_000 }
    expect(drawn(asked).at(-1)).toContain('The daemon has not answered for 3s')
    expect(drawn({ ...asked, askedAt: NOW - 1_000 }).at(-1)).toContain('? help')
  })

  test('that was replaced is named once', () => {
    const first = answeredBy(serverAndBuild(), { id: 'k_1', osPid: 11 })
    expect(drawn(first).at(-1)).toContain('? help')
    const second = answeredBy(first, { id: 'k_2', osPid: 12 })
    expect(drawn(second).at(-1)).toContain('The daemon was replaced; the new one has the PID 12.')
    expect(drawn(pressing(second, 'down')).at(-1)).toContain('? help')
  })
})

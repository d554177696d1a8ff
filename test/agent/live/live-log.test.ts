import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openLiveLogs } from '../../../src/agent/live/open-live-logs.ts'
import { layoutOf } from '../../../src/command/output/layout.ts'
import type { Masking } from '../../../src/command/output/masking.ts'
import { readRange } from '../../../src/command/output/read.ts'
import { streamsBetween } from '../../../src/command/output/streams.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { Fragment } from '../../../src/model/model.ts'
import { Masker } from '../../../src/redaction/masker.ts'
import { isLongRun } from '../../long-run.ts'
import { SECRETS, shows } from '../../redaction/corpus.ts'
import { tempFolder } from '../../temp-folder.ts'

const pid = 'p_live' as Pid
const BEGUN: Fragment = { type: 'begun' }
const text = (part: number, of: string): Fragment => ({ type: 'text', part, text: of })
const thinking = (part: number, of: string): Fragment => ({ type: 'thinking', part, text: of })
const args = (part: number, tool: string, of: string): Fragment => ({
  type: 'tool_arguments',
  part,
  callId: `c${part}`,
  tool,
  text: of,
})

/** Other tests open files of their own in threads of this OS process. */
function filesOpenBelow(folder: string): number {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd))
    } catch {
      // It was closed meanwhile.
      return ''
    }
  })
  return targets.filter((target) => target.startsWith(folder)).length
}

function liveLogs(output = tempFolder(), minFreeBytes = 0) {
  const troubles: string[] = []
  const grown: Pid[] = []
  let now = 1_000
  const logs = openLiveLogs({
    output,
    minFreeBytes,
    maxOpen: 8,
    grew: (of) => grown.push(of),
    onTrouble: (_error, doing) => troubles.push(doing),
    now: () => now,
  })
  return { logs, output, folder: join(output, pid), troubles, grown, pass: (ms: number) => (now += ms) }
}

async function shown(folder: string, masking: Masking | null = null): Promise<string> {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const { bytes, next } = await readRange(folder, at, 65_536, masking)
    if (bytes.length === 0) return Buffer.concat(parts).toString()
    parts.push(bytes)
    at = next
  }
}

async function streamed(folder: string): Promise<string[]> {
  const all = await shown(folder)
  const starts = await streamsBetween(folder, 0, all.length)
  return starts.map(
    ({ offset, stream }, index) => `${stream}: ${all.slice(offset, starts[index + 1]?.offset ?? all.length)}`,
  )
}

describe('a live log', () => {
  test('has the fragments of a call, each kind as a stream, with labels where a part begins', async () => {
    const { logs, folder, grown } = liveLogs()
    const log = logs.open(pid)
    const said = [
      BEGUN,
      thinking(0, 'Let me '),
      thinking(0, 'see.'),
      text(1, 'I edit'),
      text(1, ' it.\n'),
      args(2, 'edit_file', ''),
      args(2, 'edit_file', '{"path":'),
      args(2, 'edit_file', '"a.ts"}'),
      args(3, 'run', '{}'),
    ]
    for (const fragment of said) log.append(fragment)
    log.append(BEGUN)
    log.append(text(0, 'Done.'))
    expect(await streamed(folder)).toEqual([
      'thinking: Let me see.',
      'label: \n',
      'text: I edit it.\n',
      'label: edit_file ',
      'tool_arguments: {"path":"a.ts"}',
      'label: \nrun ',
      'tool_arguments: {}',
      'label: \n',
      'text: Done.',
    ])
    expect(log.end).toBe((await shown(folder)).length)
    expect(grown).toContain(pid)
    await log.flushed()
    log.close()
  })

  test('is continued at its end by the next program', async () => {
    const first = liveLogs()
    first.logs.open(pid).append(text(0, 'half of an ans'))
    const next = liveLogs(first.output).logs.open(pid)
    expect(next.end).toBe(14)
    next.append(BEGUN)
    next.append(text(0, 'the whole answer'))
    expect(await shown(first.folder)).toBe('half of an ans\nthe whole answer')
  })

  test('is written once by two that have it open', async () => {
    const { logs, folder } = liveLogs()
    const [one, other] = [logs.open(pid), logs.open(pid)]
    one.append(text(0, 'one '))
    other.append(text(0, 'other'))
    one.close()
    one.append(text(0, 'late'))
    other.append(text(0, '.'))
    expect([await shown(folder), other.end]).toEqual(['one other.', 10])
  })

  test('leaves out a late piece of an earlier part', async () => {
    const { logs, folder } = liveLogs()
    const log = logs.open(pid)
    for (const fragment of [args(0, 'a', '{"x":'), args(1, 'b', '{}'), args(0, 'a', '1}')])
      log.append(fragment)
    expect(await shown(folder)).toBe('a {"x":\nb {}')
  })

  test('is bounded: the oldest segments are dropped, and the gap is named', async () => {
    const { logs, folder } = liveLogs()
    const log = logs.open(pid)
    const piece = 'x'.repeat(10_000)
    for (let written = 0; written < 5_000_000; written += piece.length) log.append(text(0, piece))
    const layout = await layoutOf(folder)
    expect(layout?.end).toBe(5_000_000)
    expect(layout?.gaps).toEqual([{ from: 0, to: expect.any(Number) }])
    const kept = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    expect(kept).toBeLessThan(3 * 1024 * 1024)
    expect((await readRange(folder, 0, 10)).gap).toEqual(layout?.gaps[0])
  })

  test('costs an agent nothing before its first use, and keeps few files open', async () => {
    const { logs, output } = liveLogs()
    const idle = Array.from({ length: 1_000 }, (_, index) => logs.open(`p_idle${index}` as Pid))
    expect(readdirSync(output)).toEqual([])
    for (const log of idle) log.append(text(0, 'hello'))
    expect(filesOpenBelow(output)).toBeLessThan(40)
    for (const log of idle) log.close()
    expect(filesOpenBelow(output)).toBe(0)
    expect(await shown(join(output, 'p_idle7'))).toBe('hello')
  })
})

describe('a disk that does not take it', () => {
  test('leaves a gap, tells once, and fails nothing', async () => {
    const { logs, output, folder, troubles, pass } = liveLogs()
    const log = logs.open(pid)
    log.append(text(0, 'before '))
    rmSync(output, { recursive: true })
    log.close()
    const next = logs.open(pid)
    next.append(text(0, 'lost'))
    next.append(text(0, ' lost'))
    pass(1_000)
    next.append(text(0, ' lost'))
    expect([next.end, troubles.length, existsSync(folder)]).toEqual([14, 1, false])
    mkdirSync(output)
    pass(1_000)
    next.append(text(0, ' again'))
    expect((await layoutOf(folder))?.gaps).toEqual([{ from: 0, to: 14 }])
    expect((await readRange(folder, 0, 100)).bytes.toString()).toBe(' again')
  })

  test('is not filled to its last bytes', () => {
    const { logs, folder, troubles } = liveLogs(undefined, Number.MAX_SAFE_INTEGER)
    const log = logs.open(pid)
    log.append(text(0, 'hello'))
    expect([log.end, troubles, readdirSync(folder)]).toEqual([5, [`writing the live log of ${pid}`], []])
  })
})

describe('secrets in fragments', () => {
  const masking: Masking = { masker: new Masker(), final: true, tagged: true, mayShow: () => true }
  const kinds = ['text', 'thinking', 'tool_arguments'] as const
  const fragmentOf = (kind: (typeof kinds)[number], part: number, of: string): Fragment =>
    kind === 'tool_arguments' ? args(part, 'tool', of) : { type: kind, part, text: of }

  /** Long secrets are blocks of lines: splits within two of them differ little. */
  const stepIn = (of: string) => (of.length > 500 && !isLongRun ? 5 : 1)

  test.each(SECRETS)('$name is not shown, wherever it is split', async (printed) => {
    for (const kind of kinds)
      for (let cut = 1; cut < printed.text.length; cut += kind === 'text' ? stepIn(printed.text) : 7) {
        const { logs, folder } = liveLogs()
        const log = logs.open(pid)
        log.append(fragmentOf(kind, 0, printed.text.slice(0, cut)))
        log.append(fragmentOf(kind, 0, printed.text.slice(cut)))
        log.append(fragmentOf('text', 1, '\nthe end\n'))
        log.close()
        const seen = await shown(folder, masking)
        expect([kind, cut, shows(seen, printed)]).toEqual([kind, cut, false])
      }
  })

  test('a secret that a cut call and its continuation share is not shown', async () => {
    const { logs, folder } = liveLogs()
    const log = logs.open(pid)
    for (const printed of SECRETS.filter(({ text: of }) => of.startsWith('got ')).slice(0, 5)) {
      const middle = printed.text.length - 8
      for (const fragment of [BEGUN, text(0, printed.text.slice(0, middle)), BEGUN]) log.append(fragment)
      log.append(text(0, `${printed.text.slice(middle)}\n`))
      const seen = (await shown(folder, masking)).replaceAll('\n', '')
      expect(shows(seen, printed)).toBe(false)
    }
  })
})

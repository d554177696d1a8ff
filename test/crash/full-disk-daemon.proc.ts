import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { CommandLine } from '../cli/command-line.ts'
import { endForCertain, isAlive } from '../command/os-processes.ts'
import { startTimeOf, until } from '../keeper/client.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { canMount, SmallDisk } from '../small-disk.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

const MiB = 1024 * 1024
const TIMES = { timeout: 180_000 }
const LINES = 400_000
const WHOLE = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('')

interface Status {
  readonly daemon: { readonly osPid: number }
  readonly keeper: { readonly osPid: number } | null
  readonly troubles: readonly { readonly code: string; readonly message: string; readonly remedy: string }[]
}
interface ShownRecord {
  readonly pid: string
  readonly status: string
  readonly heldBack?: { readonly since: number; readonly bytes: number }
  readonly program: { readonly osPid: number; readonly startTime: string } | null
  readonly outcome: { readonly status: string; readonly reason: string | null } | null
}

/** `reeve` with its home, store and logs on a small disk. */
class OnSmallDisk {
  readonly disk = new SmallDisk(tempFolder(), 24 * MiB)
  readonly reeve: CommandLine
  readonly env = { REEVE_MIN_FREE_BYTES: '1', REEVE_OUTPUT_TAIL_BYTES: String(64 * MiB) }

  constructor() {
    // Runs after the daemons have ended, and before the folder is removed.
    onTestFinished(() => this.disk.unmount())
    this.reeve = new CommandLine(new TempReeve({ parent: this.disk.folder }))
  }

  /** The pid of a command in the background. */
  async begin(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.reeve.run(['run', '-d', ...words], { env: this.env })
    expect([code, stderr]).toEqual([0, ''])
    return stdout.trim()
  }

  show(pid: string): Promise<ShownRecord> {
    return this.reeve.json<ShownRecord>('show', pid)
  }

  status(): Promise<Status> {
    return this.reeve.json<Status>('status')
  }

  async says(...words: string[]): Promise<string> {
    const { stdout, stderr } = await this.reeve.run(words, { env: this.env })
    return `${stdout}${stderr}`
  }

  async fill(): Promise<void> {
    await until('the reserve is there', () => this.reserveBytes > 0)
    this.disk.fill()
  }

  get reserveBytes(): number {
    try {
      return readFileSync(join(this.reeve.temp.home.commands, 'reserve')).length
    } catch {
      // Given up, or not made yet.
      return 0
    }
  }

  async killDaemon(): Promise<number> {
    const { osPid } = (await this.status()).daemon
    await endForCertain({ osPid, startTime: startTimeOf(osPid) })
    return osPid
  }
}

testIf(canMount, NEEDS_MOUNT)(
  'daemon and keeper live on while their disk is full, say so, and go on when there is space',
  async () => {
    const here = new OnSmallDisk()
    const prints = await here.begin('-i', '--', 'sh', '-c', `read go; seq 1 ${LINES}`)
    const foreground = here.reeve.start(['run', '--', 'sh', '-c', `echo begun; read go; seq 1 ${LINES}`], {
      input: 'open',
      env: here.env,
    })
    await foreground.printed('begun')
    let asides = ''
    foreground.child.stderr?.on('data', (piece: Buffer) => {
      asides += piece.toString()
    })
    const before = await here.status()
    expect(before.troubles).toEqual([])
    await here.fill()
    expect(await here.says('send', prints, 'go')).not.toMatch(/internal/)
    foreground.child.stdin?.end('go\n')
    await expect.poll(async () => (await here.show(prints)).heldBack?.bytes ?? 0, TIMES).toBeGreaterThan(0)
    await expect
      .poll(async () => (await here.status()).troubles.map(({ code }) => code), TIMES)
      .toEqual(expect.arrayContaining(['store_unwritable', 'output_held_back']))

    expect(await here.says('ps')).toMatch(/held back/)
    expect(await here.says('show', prints)).toMatch(/held back/)
    expect(await here.says('logs', prints, '-n', '3')).toMatch(/held back/)
    expect(await here.says('status')).toMatch(/disk .*full(.|\n)*held back/)
    expect(await here.says('doctor')).toMatch(/held back/)
    expect(await here.says('top', '--once')).toMatch(/held back/)
    await expect.poll(() => asides, TIMES).toMatch(/held back/)
    const refused = await here.reeve.run(['run', '--', 'true'], { env: here.env })
    expect(refused.stderr).toMatch(/full/)
    const during = await here.status()
    expect([during.daemon.osPid, during.keeper?.osPid]).toEqual([before.daemon.osPid, before.keeper?.osPid])

    here.disk.makeRoom()
    const { code, stdout } = await foreground.ended
    expect([code, stdout === `begun\n${WHOLE}`]).toEqual([0, true])
    const waited = await here.reeve.run(['wait', prints], { env: here.env })
    expect([waited.code, waited.stderr]).toEqual([0, ''])
    const logs = await here.reeve.run(['logs', prints, '--raw'], { env: here.env })
    expect(logs.stdout === WHOLE).toBe(true)
    await expect.poll(async () => (await here.status()).troubles, TIMES).toEqual([])
    expect(await here.begin('--', 'true')).toMatch(/^p_/)
  },
)

testIf(canMount, NEEDS_MOUNT)(
  'a daemon starts on a full disk, and ends programs whose ends it records when there is space',
  async () => {
    const here = new OnSmallDisk()
    const [first, second] = [await here.begin('--', 'sleep', '1000'), await here.begin('--', 'sleep', '1000')]
    const programs = [(await here.show(first)).program, (await here.show(second)).program]
    await here.fill()
    const former = await here.killDaemon()
    expect(await here.says('ps')).toContain(first)
    expect((await here.status()).daemon.osPid).not.toBe(former)
    expect(here.reserveBytes).toBe(0)

    here.disk.fill()
    expect(await here.says('kill', first)).toMatch(/ended; recorded when/)
    expect(await here.says('interrupt', second)).toMatch(/1 stopped, recorded when/)
    for (const program of programs)
      await until('the program is gone', () => program !== null && !isAlive(program))
    expect((await here.show(first)).outcome).toBeNull()
    expect(await here.reeve.json('kill', first)).toMatchObject([{ type: 'unrecorded' }])

    here.disk.makeRoom()
    await expect
      .poll(async () => (await here.show(first)).outcome, TIMES)
      .toMatchObject({ status: 'cancelled', reason: 'killed' })
    await expect
      .poll(async () => (await here.show(second)).outcome, TIMES)
      .toMatchObject({ status: 'cancelled', reason: 'interrupted' })
    await expect.poll(() => here.reserveBytes, TIMES).toBe(MiB)
  },
)

testIf(canMount, NEEDS_MOUNT)(
  'reeve down ends commands on a full disk, and the next daemon records it',
  async () => {
    const here = new OnSmallDisk()
    const pid = await here.begin('--', 'sleep', '1000')
    const { program } = await here.show(pid)
    await here.fill()
    expect(await here.says('down')).toContain(pid)
    expect(program !== null && isAlive(program)).toBe(false)
    here.disk.makeRoom()
    await expect
      .poll(async () => (await here.show(pid)).outcome, TIMES)
      .toMatchObject({ status: 'cancelled' })
  },
)

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramIdentity } from '../../../src/keeper/protocol/program-state.ts'
import { bootId } from '../../../src/os/boot.ts'
import { startTimeOf } from '../../../src/os/identity.ts'
import { quickFolder } from '../../quick-folder.ts'

/**
 * A real program, a shell script, started as a keeper does it: in a session of its own, with a marker. Its processes say
 * who they are by `echo $$ >> "$PIDS"`, so that a test knows them without the code that it tests.
 */
export class TestProgram implements Disposable {
  readonly marker = `p_${randomBytes(6).toString('hex')}@home`
  readonly folder = mkdtempSync(join(quickFolder, 'reeve-tree-'))
  readonly child: ChildProcess
  readonly program: ProgramIdentity
  readonly exited: Promise<{ code: number | null; signal: string | null }>

  constructor(script: string, cgroup: string | null = null) {
    this.child = spawn('sh', ['-c', script], {
      detached: true,
      stdio: 'ignore',
      cwd: this.folder,
      env: { ...process.env, PIDS: join(this.folder, 'pids'), REEVE_PROCESS: this.marker },
    })
    const osPid = this.child.pid!
    this.exited = new Promise((resolve) =>
      this.child.once('exit', (code, signal) => resolve({ code, signal })),
    )
    this.program = {
      osPid,
      startTime: startTimeOf(osPid),
      boot: bootId(),
      group: osPid,
      tree: cgroup === null ? 'marker' : 'cgroup',
      cgroup,
      memoryBy: null,
    }
  }

  /** Who has said so by now. */
  get osPids(): number[] {
    return (this.read('pids') ?? '').split('\n').filter(Boolean).map(Number)
  }

  /** When so many have said who they are. */
  async whenThereAre(count: number): Promise<number[]> {
    await until(`${count} processes are there`, () => this.osPids.length >= count)
    return this.osPids
  }

  read(file: string): string | null {
    try {
      return readFileSync(join(this.folder, file), 'utf8')
    } catch {
      return null
    }
  }

  [Symbol.dispose](): void {
    const left = new Set([...withMarker(this.marker), ...this.osPids.filter(lives)])
    for (const osPid of left) kill(osPid)
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  }
}

function kill(osPid: number): void {
  if (!(osPid > 1)) return
  try {
    process.kill(osPid, 'SIGKILL')
  } catch {
    // It has gone by itself.
  }
}

/** Found by grep. */
export function withMarker(marker: string): number[] {
  const script = `grep -lzx -e "REEVE_PROCESS=$0" /proc/[0-9]*/environ 2>&-; true`
  const files = execFileSync('sh', ['-c', script, marker], { encoding: 'utf8' }).split('\n').filter(Boolean)
  return files.map((file) => Number(file.split('/')[2])).filter(lives)
}

export function lives(osPid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${osPid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 45_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Waited for nothing: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Three levels, one in a session of its own, and one that left by a double fork. All ignore SIGTERM. Six write their PIDs. */
export const STUBBORN_TREE = `
trap '' TERM
echo $$ >> "$PIDS"
sh -c 'echo $$ >> "$PIDS"
  sh -c "echo \\$\\$ >> \\$PIDS; sleep 300 & wait; sleep 300" & wait; sleep 300' &
setsid sh -c 'echo $$ >> "$PIDS"; sleep 300 & wait; sleep 300' &
(setsid sh -c 'echo $$ >> "$PIDS"; sh -c "echo \\$\\$ >> \\$PIDS; sleep 300; :" & wait; sleep 300' &)
wait
sleep 300
`
export const STUBBORN = 6

/**
 * Restarts itself in a session of its own and ends at once, over and over: a search for it has to be quick. Each adds a
 * byte to `hops`, and after so many it ends in any case.
 */
export const MAX_HOPS = 3000
export const HOPPING = `
cat > hop.sh <<'END'
printf . >> hops
[ $1 -lt ${MAX_HOPS} ] && setsid sh hop.sh $(($1 + 1)) &
END
exec sh hop.sh 1
`

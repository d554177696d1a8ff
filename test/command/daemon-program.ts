import type { InputOf, OutputOf, VerbName } from 'reeve'
import { type Program, startProgram } from '../crash/program.ts'
import type { TempReeve } from './commands.ts'

/** A daemon that a test can kill: it runs in its own OS process, on the folder of a temporary Reeve. */
export interface DaemonProgram extends Program {
  call<Name extends VerbName>(verb: Name, input: InputOf<Name>): Promise<OutputOf<Name>>
  /** In order, and gone when it comes back. */
  close(options?: { keep?: boolean }): Promise<void>
}

export async function startDaemon(
  temp: TempReeve,
  commands: object = {},
  more: object = {},
): Promise<DaemonProgram> {
  const options = { home: temp.keeperHome.folder, environment: 'inherit', shell: '/bin/sh', ...commands }
  const program = await startProgram('daemon', [temp.store, JSON.stringify(options), JSON.stringify(more)])
  temp.keeper()
  let asked = 0
  const call = async (verb: string, input: unknown) => {
    asked += 1
    const id = asked
    program.tell(JSON.stringify({ id, verb, input }))
    const line = await program.says('id', (said) => said['id'] === id)
    if ('error' in line) throw new Error(`${verb}: ${JSON.stringify(line['error'])}`)
    return line['answer']
  }
  return {
    ...program,
    get osPid() {
      return program.osPid
    },
    kill: () => program.kill(),
    call: call as DaemonProgram['call'],
    async close(options = {}) {
      await call('close', options)
      await program.ended()
    },
  }
}

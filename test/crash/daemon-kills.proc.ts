import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { CommandLine } from '../cli/command-line.ts'
import { endForCertain } from '../command/os-processes.ts'
import { startTimeOf, until } from '../keeper/client.ts'

const KILLS = 5

/** Kills the daemon as soon as it is announced, as often as asked: no daemon lives for long. */
async function killDaemons(reeve: CommandLine): Promise<void> {
  let last = 0
  for (let kills = 0; kills < KILLS; kills++) {
    await until('the next daemon is ready', () => {
      const announced = reeve.temp.announced()
      return announced !== null && announced.osPid !== last
    })
    last = reeve.temp.announced()?.osPid ?? 0
    const startTime = startTimeOf(last)
    // A PID that is gone, or no PID, is not signalled.
    if (last > 1 && startTime !== '') await endForCertain({ osPid: last, startTime })
  }
}

test('reeve wait and reeve run outlast daemons that are killed one after the other, and pass the exit code on', async () => {
  const reeve = new CommandLine()
  const go = join(reeve.temp.home.folder, 'go')
  const line = `until [ -e ${go} ]; do sleep 0.05; done; echo done; exit 7`
  const web = (await reeve.run(['run', '-d', '--name', 'web', '-c', line])).stdout.trim()
  const waiting = reeve.start(['wait', 'web'])
  const running = reeve.start(['run', '--name', 'job', '-c', `echo begun; ${line}`], { input: '' })
  await running.printed('begun')
  await killDaemons(reeve)
  writeFileSync(go, '')
  expect(await waiting.ended).toMatchObject({ code: 7, stderr: '' })
  expect(await running.ended).toMatchObject({ code: 7, stdout: 'begun\ndone\n', stderr: '' })
  const client = await connect({ home: reeve.temp.home.folder })
  expect((await client.show({ pid: web })).outcome).toMatchObject({ status: 'failed', exitCode: 7 })
  await client.close()
}, 300_000)

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tempFolder } from '../../temp-folder.ts'
import type { Driver } from './drivers/driver.ts'
import { ScriptedModel } from './model/scripted-model.ts'
import { REEVES, type ReeveUnderTest } from './reeve-under-test.ts'
import { RunningClient } from './running-client.ts'
import type { ToolName } from './tools.ts'

export type Door = keyof typeof REEVES

/** One client that reaches Reeve in one way, and works in a folder of its own. */
export class Cell {
  readonly driver: Driver
  readonly door: Door
  readonly folder: string
  readonly reeve: ReeveUnderTest
  readonly model: ScriptedModel
  readonly #client: RunningClient

  private constructor(
    driver: Driver,
    door: Door,
    parts: Pick<Cell, 'folder' | 'reeve' | 'model'>,
    client: RunningClient,
  ) {
    this.driver = driver
    this.door = door
    this.folder = parts.folder
    this.reeve = parts.reeve
    this.model = parts.model
    this.#client = client
  }

  static async open(driver: Driver, command: readonly string[], door: Door): Promise<Cell> {
    const folder = tempFolder()
    const home = tempFolder()
    const reeve = await REEVES[door](driver.tellsFolder ? null : folder)
    const model = await ScriptedModel.listen(driver.wire)
    const setup = { home, modelUrl: model.url, connection: reeve.connection }
    const client = RunningClient.start(driver, command, { ...setup, folder, model, path: agentPath(home) })
    return new Cell(driver, door, { folder, reeve, model }, client)
  }

  /** The result of a tool, as the client shows it to the model. */
  readonly call = (tool: ToolName, input: object = {}): Promise<string> => this.model.call(tool, input)

  /** The model says that it is done, and the client ends. */
  async finish(): Promise<void> {
    await this.model.finish('Done.')
    expect(await this.#client.exited(), this.#client.output).toBe(0)
  }
}

/** A PATH with a program that only this client has. */
function agentPath(home: string): string {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'agent-tool'), '#!/bin/sh\necho from the PATH of the agent\n')
  chmodSync(join(bin, 'agent-tool'), 0o755)
  return `${bin}:${process.env['PATH']}`
}

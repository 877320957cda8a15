// @ts-check
// The public surface of every entry point, as a report under docs/api/: a wider or changed surface is a diff that somebody
// has to commit. `npm run api` writes the reports; with --check a report that is out of date or left over, and an
// export without a doc comment, are failures.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { entryPoints, root } from './package.mjs';

const reports = join(root, 'docs', 'api');
const check = process.argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'api-'));
const quiet = { default: { logLevel: ExtractorLogLevel.None } };
/** @type {string[]} */
const problems = [];

// The words are generated: test/proto/descriptors.txt says what they declare, and says it shorter.
const written = entryPoints().filter(({ name }) => name !== 'proto');
const fresh = new Map(written.map(({ name, types }) => [`${name}.api.md`, report(name, types)]));
rmSync(scratch, { recursive: true, force: true });

mkdirSync(reports, { recursive: true });
const leftOver = readdirSync(reports).filter((file) => file.endsWith('.api.md') && !fresh.has(file));
if (check) {
  for (const file of leftOver) problems.push(`docs/api/${file} belongs to no entry point`);
  for (const [file, text] of fresh) compare(file, text);
} else {
  for (const file of leftOver) rmSync(join(reports, file));
  for (const [file, text] of fresh) writeFileSync(join(reports, file), text);
}

if (problems.length > 0) {
  console.log(`${problems.join('\n')}\nIf a change is meant: npm run api, and commit docs/api/.`);
  process.exitCode = 1;
} else {
  console.log(`${fresh.size} reports ${check ? 'are up to date' : 'written'}`);
}

/**
 * Holds the report that is committed against what the declarations say now.
 *
 * @param {string} file
 * @param {string} text
 */
function compare(file, text) {
  const path = join(reports, file);
  if (!existsSync(path)) return problems.push(`docs/api/${file} is missing`);
  const committed = readFileSync(path, 'utf8');
  if (committed !== text) problems.push(`docs/api/${file} is out of date`, ...changes(committed, text));
  for (const [, line] of text.matchAll(/^\/\/ @public \(undocumented\)\nexport (.+)/gm)) {
    problems.push(`docs/api/${file}: exported without a doc comment: ${line}`);
  }
}

/**
 * @param {string} name
 * @param {string} types the entry point's declarations, relative to the root
 */
function report(name, types) {
  const config = ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, types),
      newlineKind: 'lf',
      compiler: { tsconfigFilePath: join(root, 'tsconfig.json') },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: scratch,
        reportTempFolder: join(scratch, 'fresh'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        // A type that callers meet but cannot name stands in the report as a remark.
        extractorMessageReporting: {
          ...quiet,
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
        },
        tsdocMessageReporting: quiet,
      },
    },
  });
  const { errorCount } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      if (message.logLevel === ExtractorLogLevel.Error) console.log(message.formatMessageWithLocation(root));
      message.handled = true;
    },
  });
  if (errorCount > 0) problems.push(`${types} cannot be reported on`);
  return readFileSync(join(scratch, `${name}.api.md`), 'utf8');
}

/**
 * The lines that came and went, the first few of them.
 *
 * @param {string} old
 * @param {string} fresh
 */
function changes(old, fresh) {
  const before = new Set(old.split('\n'));
  const after = new Set(fresh.split('\n'));
  const gone = [...before].filter((line) => !after.has(line)).map((line) => `  - ${line}`);
  const come = [...after].filter((line) => !before.has(line)).map((line) => `  + ${line}`);
  return [...gone, ...come].slice(0, 20);
}

// BullMQ's side: `worker SLOTS` runs jobs, `MODE COUNT` pushes them.
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Queue, Worker } = createRequire(`${process.env.BENCH_NODE_HOME}/`)("bullmq");
const url = new URL(process.env.BENCH_REDIS_URL);
const connection = { host: url.hostname, port: Number(url.port), maxRetriesPerRequest: null };
const [first, last] = (process.env.BENCH_MARKS ?? "0,0").split(",").map(Number);
const options = { removeOnComplete: true, removeOnFail: true };
const STAMP_EVERY_MS = 10;
const BULK_JOBS = 1000;

const now = () => (performance.timeOrigin + performance.now()) / 1000;
const write = (line) => appendFileSync(process.env.BENCH_OUT, `${line}\n`);

async function run(job) {
  if (job.name === "stamp") write(`late ${now() - job.data}`);
  else if (job.data === first || job.data === last) write(`${job.data} ${now()}`);
}

async function pushStamps(queue, count) {
  let due = now();
  for (let number = 0; number < count; number++) {
    due += STAMP_EVERY_MS / 1000;
    await new Promise((wake) => setTimeout(wake, Math.max(0, (due - now()) * 1000)));
    await queue.add("stamp", now(), options);
  }
}

async function pushInBulk(queue, count) {
  for (let start = 0; start < count; start += BULK_JOBS) {
    const length = Math.min(BULK_JOBS, count - start);
    const jobs = Array.from({ length }, (_, index) => ({ name: "noop", data: start + index, opts: options }));
    await queue.addBulk(jobs);
  }
}

async function push(mode, count) {
  const queue = new Queue("bench", { connection });
  await queue.waitUntilReady();
  await queue.add("noop", -1, options);
  const begun = performance.now();
  const cpu = process.cpuUsage();
  if (mode === "one") for (let n = 0; n < count; n++) await queue.add("noop", n, options);
  else if (mode === "stamp") await pushStamps(queue, count);
  else await pushInBulk(queue, count);
  const { user, system } = process.cpuUsage(cpu);
  console.log(JSON.stringify({
    seconds: (performance.now() - begun) / 1000, cpu_seconds: (user + system) / 1e6,
  }));
  await queue.close();
}

const [mode, count] = [process.argv[2], Number(process.argv[3])];
if (mode === "worker") new Worker("bench", run, { connection, concurrency: count });
else await push(mode, count);

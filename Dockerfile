# syntax=docker/dockerfile:1
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY bin ./bin
# Nothing else is written: the root file system can be read-only.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# 503 while the node lags more than max_lag_seconds, which has no limit unless it is set.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/v1/-/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["./bin/daybook"]
# A volume without a ledger gets a sample, which the page and the ready line call so. For another ledger, leave --sample
# out: then a volume that is not mounted is an error.
CMD ["serve", "--data", "/data", "--listen", "0.0.0.0:8080", "--sample"]

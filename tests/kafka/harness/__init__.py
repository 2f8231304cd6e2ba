"""Real brokers, a proxy that loses and keeps what it is told to, and an oracle: see tests/kafka/README.md."""

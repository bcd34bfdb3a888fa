--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SELECT pg_catalog.set_config('search_path', '', false);
CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA public;
CREATE TYPE public.mood AS ENUM ('sad', 'ok');
ALTER TYPE public.mood OWNER TO app;
CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at = now();
  RETURN NEW;
END; $$;
CREATE TABLE public.customers (
    id integer NOT NULL,
    uid uuid DEFAULT public.uuid_generate_v4() NOT NULL,
    email character varying(255) NOT NULL,
    current_mood public.mood,
    balance numeric(10,2) DEFAULT 0.00,
    tags text[] DEFAULT '{}'::text[],
    doc jsonb,
    span tsrange,
    search tsvector,
    ip inet,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    local_at timestamp(3) without time zone,
    age integer GENERATED ALWAYS AS (EXTRACT(year FROM local_at)) STORED,
    CONSTRAINT age_check CHECK (((balance >= (0)::numeric) AND (balance < (1000)::numeric))),
    CONSTRAINT email_check CHECK (((email)::text ~* '^.+@.+$'::text)),
    EXCLUDE USING gist (span WITH &&)
);
ALTER TABLE public.customers OWNER TO app;
COMMENT ON TABLE public.customers IS 'Customers';
COMMENT ON COLUMN public.customers.email IS 'Address';
CREATE SEQUENCE public.customers_id_seq AS integer START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE public.customers_id_seq OWNED BY public.customers.id;
ALTER TABLE ONLY public.customers ALTER COLUMN id SET DEFAULT nextval('public.customers_id_seq'::regclass);
COPY public.customers (id, email) FROM stdin;
1	a@b
2	it's; odd
\.
ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_email_key UNIQUE (email);
CREATE TABLE public.orders (id bigserial PRIMARY KEY, customer_id int REFERENCES public.customers(id) ON DELETE CASCADE, at timestamptz, UNIQUE (customer_id, at)) PARTITION BY RANGE (at);
CREATE TABLE public.orders_2026 PARTITION OF public.orders FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE INDEX ix ON public.customers USING btree (email);
CREATE TRIGGER touch BEFORE UPDATE ON public.customers FOR EACH ROW EXECUTE FUNCTION public.touch();
GRANT SELECT ON TABLE public.customers TO reader;
